"""The launcher of an MPIJob asks for no GPU."""

from collections.abc import Iterator

from core.apis.kinds import MPI_JOB_V1ALPHA2
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Parameters, Rule
from policies.views.devices import gpus, place


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for pod in subject.pods:
        if pod.role != "Launcher":
            continue
        requests = [(container, request) for container in pod.containers for request in gpus(container)]
        if requests and subject.read("spec", "runLauncherAsWorker") is not True:
            for container, request in requests:
                yield container.violation(f"the launcher asks for {request.resource}: {request.count}", *place(request))


MPI_LAUNCHER_NO_GPU = Rule(
    name="mpi-launcher-no-gpu",
    what="The launcher of an MPIJob asks for no GPU, unless runLauncherAsWorker makes it a worker too.",
    why="The launcher only starts mpirun, and the operator hides GPUs from it (NVIDIA_VISIBLE_DEVICES is empty): what "
    "it asks for stays idle. On a cluster that the workers fill, the launcher stays Pending and the job never starts "
    "(0/2 nodes are available: Insufficient nvidia.com/gpu).",
    remedy="Leave GPUs to the workers and give the launcher none",
    source="E-53, P-6, platform-facts 1.7",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(MPI_JOB_V1ALPHA2,),
)
