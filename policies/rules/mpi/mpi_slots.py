"""slotsPerWorker is what the GPUs of a worker can take."""

from collections.abc import Iterator

from core.apis.kinds import MPI_JOB_V2BETA1
from core.wording import plural
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Unknown, brief
from policies.rule import Parameters, Rule
from policies.views.mpi_jobs import SLOTS, MpiJobView, gpus_per_process


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    job = MpiJobView(subject)
    slots, gpus = job.slots, job.gpus
    if slots is None:
        value = subject.read(*SLOTS)
        if not isinstance(value, Unknown):
            yield subject.violation(f"slotsPerWorker {brief(value)} is not a number of processes", *SLOTS)
        return
    if not gpus:
        return
    shares = [gpus_per_process(call.program) for _, call in job.mpiruns]
    positive = [share for share in shares if share]
    if positive:
        per_process = max(positive)
        if slots * per_process != gpus:
            yield subject.violation(
                f"{plural(slots, 'slot')} x {plural(per_process, 'GPU')} per process are {slots * per_process}, "
                f"and a worker has {gpus}",
                *SLOTS,
            )
    elif slots not in (1, gpus):
        yield subject.violation(f"a worker has {plural(slots, 'slot')} for {plural(gpus, 'GPU')}", *SLOTS)


MPI_SLOTS = Rule(
    name="mpi-slots",
    what="slotsPerWorker is the number of GPUs of a worker, divided by the GPUs that one process drives.",
    why="More slots than GPUs put two ranks on one GPU (NCCL WARN Duplicate GPU detected); fewer leave some of the "
    "job's GPUs idle.",
    remedy="Set slotsPerWorker to the GPUs of a worker, or to 1 if one process drives them all (nccl-tests -g)",
    source="R-4.3-2, R-4.4-6, R-4.5-2",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(MPI_JOB_V2BETA1,),
)
