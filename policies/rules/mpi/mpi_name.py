"""A layout in a job's name is correct: <base>-PPxGG, or PPxGGxNN, is pods x GPUs per pod x nodes."""

import re
from collections.abc import Iterator

from pydantic import Field

from core.apis.kinds import MPI_JOB_V2BETA1
from core.wording import plural
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Parameters, Rule
from policies.views.machines import MOST_GPUS, NOT_KNOWN, USUAL_GPUS
from policies.views.mpi_jobs import WORKER, MpiJobView

_LAYOUT = re.compile(r"(?<![0-9a-z])(\d\d)x(\d\d)(?:x(\d\d))?(?![0-9a-z])")


class MpiName(Parameters):
    """What a node can hold."""

    gpus_per_node: int | None = Field(
        default=None,
        gt=0,
        description="GPUs of a node; default: of the stack's machines, and without a stack unknown, "
        f"so that more than {MOST_GPUS} are refused and more than {USUAL_GPUS} are undetermined",
    )


def _examine(subject: Obj, _: Inventory, parameters: MpiName) -> Iterator[Violation]:
    match = _LAYOUT.search(subject.name[:253])
    if match is None:
        return
    pods, gpus = int(match[1]), int(match[2])
    job = MpiJobView(subject)
    workers = job.workers
    if workers is not None and workers != pods:
        yield subject.violation(
            f"the name means {plural(pods, 'pod')}, and the job has {plural(workers, 'worker')}", "metadata", "name"
        )
    worker_gpus = job.gpus
    if worker_gpus is not None and worker_gpus != gpus and not subject.hidden(*WORKER, "template"):
        yield subject.violation(
            f"the name means {plural(gpus, 'GPU')} per pod, and a worker has {worker_gpus}", "metadata", "name"
        )
    nodes = int(match[3]) if match[3] else None
    if nodes is not None and not 0 < nodes <= pods:
        yield subject.violation(f"the name means {plural(nodes, 'node')} for {plural(pods, 'pod')}", "metadata", "name")
    elif nodes is not None:
        yield from _nodes(subject, nodes, pods, gpus, parameters.gpus_per_node)


def _nodes(subject: Obj, nodes: int, pods: int, gpus: int, per_node: int | None) -> Iterator[Violation]:
    need = f"{plural(pods, 'pod')} x {plural(gpus, 'GPU')} need {pods * gpus}"
    name = f"the name means {plural(nodes, 'node')}"
    if pods * gpus > nodes * (per_node or MOST_GPUS):
        most = f"with {'' if per_node else 'at most '}{nodes * (per_node or MOST_GPUS)} GPUs"
        yield subject.violation(f"{name} {most}, and {need}", "metadata", "name")
    elif per_node is None and pods * gpus > nodes * USUAL_GPUS:
        yield subject.unverified(f"{name}, {need}, {NOT_KNOWN}", "metadata", "name")


MPI_NAME = Rule(
    name="mpi-name",
    what="A job called <base>-PPxGGxNN runs PP pods with GG GPUs each on NN nodes.",
    why="Results are stored and compared by the job's name. A 16x01 run (5.7 GB/s) that is named 02x08 is compared "
    "with 55 GB/s, and the loss is sought in the fabric.",
    remedy="Rename the job after its layout, or correct Worker.replicas and the workers' nvidia.com/gpu",
    source="R-4.3-2",
    severity=Severity.MANDATORY,
    parameters=MpiName,
    examine=_examine,
    kinds=(MPI_JOB_V2BETA1,),
)
