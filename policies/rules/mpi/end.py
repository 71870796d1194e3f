"""How a job with GPUs ends, and that its workers do."""

from collections.abc import Iterator, Mapping

from pydantic import Field

from core.apis import mpi_jobs
from core.apis.kinds import CRON_JOB, JOB, MPI_JOB_V1, MPI_JOB_V1ALPHA2, MPI_JOB_V2BETA1
from core.apis.quantity import whole
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Path, Unknown, brief
from policies.rule import Parameters, Rule
from policies.views.devices import gpus, rdma

_BOUNDS_PLACES: dict[str, Path] = {JOB.kind: ("spec",), CRON_JOB.kind: ("spec", "jobTemplate", "spec")}


class MpiBounded(Parameters):
    """How often a job may be retried."""

    retries: int = Field(default=6, ge=0, description="maximum number of retries; default: that of Kubernetes")


def _mpi_bounded(subject: Obj, _: Inventory, parameters: MpiBounded) -> Iterator[Violation]:
    is_mpi = subject.kind == MPI_JOB_V2BETA1.kind
    if not is_mpi and not any(gpus(container) or rdma(container) for container in subject.containers):
        return
    place = _BOUNDS_PLACES.get(subject.kind) or mpi_jobs.bounds_place(subject.version)
    retries = subject.read(*place, "backoffLimit")
    if retries is None:
        yield subject.violation("does not set how often it is retried", *place, "backoffLimit")
    elif not isinstance(retries, Unknown) and not 0 <= (-1 if (count := whole(retries)) is None else count) <= (
        parameters.retries
    ):
        message = f"is retried {brief(retries)} times; set 0 to {parameters.retries}"
        yield subject.violation(message, *place, "backoffLimit")
    deadline = subject.read(*place, "activeDeadlineSeconds")
    if deadline is None:
        yield subject.violation("does not set how long it may run", *place, "activeDeadlineSeconds")
    elif not isinstance(deadline, Unknown) and (whole(deadline) or 0) <= 0:
        yield subject.violation(f"may run for {brief(deadline)} seconds", *place, "activeDeadlineSeconds")


MPI_BOUNDED = Rule(
    name="mpi-bounded",
    what="An MPIJob, and a Job with GPUs or RDMA devices, sets backoffLimit and activeDeadlineSeconds.",
    why="A launcher that waits for a worker, or a collective that hangs, holds its GPUs until someone notices "
    "(mpi-operator #386, #443); six silent retries hide a failure and take six times as long.",
    remedy="Set backoffLimit (0 for a verification) and activeDeadlineSeconds: in spec for a Job and MPIJob v1alpha2, "
    "in spec.runPolicy for v1 and v2beta1",
    source="platform-facts 4.3 rule 21",
    severity=Severity.ADVISORY,
    parameters=MpiBounded,
    examine=_mpi_bounded,
    kinds=(MPI_JOB_V2BETA1, JOB, CRON_JOB),
)


_FIELD = "cleanPodPolicy"
_KEEPS = "None"
_SPEC: Path = ("spec", _FIELD)
_RUN_POLICY: Path = ("spec", "runPolicy", _FIELD)
_POLICY_PLACES: Mapping[str, tuple[Path, ...]] = {
    MPI_JOB_V1ALPHA2.version: (_SPEC,),
    MPI_JOB_V1.version: (_SPEC, _RUN_POLICY),
    MPI_JOB_V2BETA1.version: (_RUN_POLICY,),
}


def _mpi_workers_removed(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    workers = (pod for pod in subject.pods if pod.role == "Worker")
    if not any(gpus(container) or rdma(container) for pod in workers for container in pod.containers):
        return
    places = _POLICY_PLACES.get(subject.version, (_RUN_POLICY,))
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
    examine=_mpi_workers_removed,
    kinds=(MPI_JOB_V2BETA1,),
)
