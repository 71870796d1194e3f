"""A job with GPUs limits its retries and its duration."""

from collections.abc import Iterator

from pydantic import Field

from core.apis import mpi_jobs
from core.apis.kinds import CRON_JOB, JOB, MPI_JOB_V2BETA1
from core.apis.quantity import whole
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Path, Unknown, brief
from policies.rule import Parameters, Rule
from policies.views.devices import gpus, rdma

_PLACES: dict[str, Path] = {JOB.kind: ("spec",), CRON_JOB.kind: ("spec", "jobTemplate", "spec")}


class MpiBounded(Parameters):
    """How often a job may be retried."""

    retries: int = Field(default=6, ge=0, description="maximum number of retries; default: that of Kubernetes")


def _examine(subject: Obj, _: Inventory, parameters: MpiBounded) -> Iterator[Violation]:
    if subject.kind != MPI_JOB_V2BETA1.kind and not _requests_devices(subject):
        return
    place = _PLACES.get(subject.kind) or mpi_jobs.bounds_place(subject.version)
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


def _requests_devices(subject: Obj) -> bool:
    return any(gpus(container) or rdma(container) for container in subject.containers)


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
    examine=_examine,
    kinds=(MPI_JOB_V2BETA1, JOB, CRON_JOB),
)
