"""A layout in a job's name is correct: <base>-PPxGG, or PPxGGxNN, is pods x GPUs per pod x nodes."""

import re
from collections.abc import Iterator

from pydantic import Field

from apis.kinds import MPI_JOB_V2BETA1
from hardware.profiles import PROFILES
from policies.findings import Severity
from policies.inventory import Inventory
from policies.objects import Obj
from policies.rule import Parameters, Rule
from policies.views.mpi_jobs import WORKER, MpiJobView
from policies.violation import Violation

_LAYOUT = re.compile(r"(?<![0-9a-z])(\d\d)x(\d\d)(?:x(\d\d))?(?![0-9a-z])")


class MpiName(Parameters):
    """What a node can hold."""

    gpus_per_node: int = Field(
        default=max(profile.gpus for profile in PROFILES.values()),
        gt=0,
        description="GPUs of a node; default: of the largest known hardware profile (source R-4.3-2)",
    )


def _examine(subject: Obj, _: Inventory, parameters: MpiName) -> Iterator[Violation]:
    match = _LAYOUT.search(subject.name[:253])
    if match is None:
        return
    pods, gpus = int(match[1]), int(match[2])
    job = MpiJobView(subject)
    workers = job.workers
    if workers is not None and workers != pods:
        yield subject.violation(f"the name means {pods} pods, and the job has {workers} workers", "metadata", "name")
    own = job.gpus
    if own is not None and own != gpus and not subject.hidden(*WORKER, "template"):
        yield subject.violation(f"the name means {gpus} GPUs per pod, and a worker has {own}", "metadata", "name")
    nodes = int(match[3]) if match[3] else None
    if nodes is not None and not 0 < nodes <= pods:
        yield subject.violation(f"the name means {nodes} nodes for {pods} pods", "metadata", "name")
    elif nodes is not None and pods * gpus > nodes * parameters.gpus_per_node:
        yield subject.violation(
            f"the name means {nodes} nodes, which have {nodes * parameters.gpus_per_node} GPUs, "
            f"and {pods} pods x {gpus} GPUs need {pods * gpus}",
            "metadata",
            "name",
        )


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
