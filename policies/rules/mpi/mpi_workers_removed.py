"""An MPIJob whose workers hold devices deletes them when it has finished."""

from collections.abc import Iterator, Mapping

from core.apis.kinds import MPI_JOB_V1, MPI_JOB_V1ALPHA2, MPI_JOB_V2BETA1
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Path
from policies.rule import Parameters, Rule
from policies.views.devices import gpus, rdma

_FIELD = "cleanPodPolicy"
_KEEPS = "None"
_SPEC: Path = ("spec", _FIELD)
_RUN_POLICY: Path = ("spec", "runPolicy", _FIELD)
_PLACES: Mapping[str, tuple[Path, ...]] = {
    MPI_JOB_V1ALPHA2.version: (_SPEC,),
    MPI_JOB_V1.version: (_SPEC, _RUN_POLICY),
    MPI_JOB_V2BETA1.version: (_RUN_POLICY,),
}


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    workers = (pod for pod in subject.pods if pod.role == "Worker")
    if not any(gpus(container) or rdma(container) for pod in workers for container in pod.containers):
        return
    places = _PLACES.get(subject.version, (_RUN_POLICY,))
    policies = [(place, value) for place in places if (value := subject.read(*place)) is not None]
    if not policies:
        message = f"sets no {_FIELD}: its workers run on, with their devices, after it has finished"
        yield subject.violation(message, *places[-1])
    elif all(value == _KEEPS for _place, value in policies):
        message = f"{_FIELD} {_KEEPS}: its workers run on, with their devices, after it has finished"
        yield subject.violation(message, *policies[0][0])


MPI_WORKERS_REMOVED = Rule(
    name="mpi-workers-removed",
    what="An MPIJob whose workers hold GPUs or RDMA devices sets cleanPodPolicy to Running or All.",
    why="Workers wait for the launcher's commands and never exit by themselves. The operator's default is None: it "
    "leaves them running when the launcher has finished, and they hold their GPUs until the job is deleted. A queue "
    "counts the job as finished and admits the next one, whose pods then find no free GPU.",
    remedy="Set cleanPodPolicy: Running, in spec for MPIJob v1alpha2, in spec.runPolicy for v1 and v2beta1",
    source="platform-facts 1.7, R-4.3-1",
    severity=Severity.ADVISORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(MPI_JOB_V2BETA1,),
)
