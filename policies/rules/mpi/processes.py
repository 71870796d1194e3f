"""Processes, slots and GPUs of a job that mpirun starts agree, and the job and its workers end."""

from collections.abc import Iterator, Mapping

from pydantic import Field

from core.apis import mpirun
from core.apis.kinds import CRON_JOB, JOB, MPI_JOB_V1, MPI_JOB_V1ALPHA2, MPI_JOB_V2BETA1
from core.apis.mpirun import number
from core.apis.quantity import whole
from core.wording import plural
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container, Pod
from policies.manifests.values import Path, Unknown, brief
from policies.rule import Parameters, Rule, Severity
from policies.views.command_lines import Mpirun, calls
from policies.views.devices import gpus, place, rdma
from policies.views.mpi_jobs import SLOTS, MpiJobView, count_gpus, gpus_per_process


def _mpi_launcher_no_gpu(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
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
    examine=_mpi_launcher_no_gpu,
    kinds=(MPI_JOB_V1ALPHA2,),
)


def _mpi_np(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    if subject.kind == "MPIJob":
        yield from _mpi_job(MpiJobView(subject))
        return
    for pod in subject.pods:
        if count_gpus(pod):
            yield from _pod(pod)


def _mpi_job(job: MpiJobView) -> Iterator[Violation]:
    workers, slots = job.workers, job.slots
    for container, call in job.mpiruns:
        yield from _well_formed(container, call)
        if workers is None or slots is None:
            continue
        started = _processes(call, workers)
        if started is not None and started != workers * slots:
            yield container.violation(
                f"mpirun starts {started} processes, and {workers} workers x {slots} slots are {workers * slots}",
                *_place(call),
            )


def _pod(pod: Pod) -> Iterator[Violation]:
    for container in pod.containers:
        for call in calls(container):
            yield from _well_formed(container, call)
            pod_gpus = count_gpus(pod)
            gpus_each = gpus_per_process(call.program)
            started = _processes(call, 1)
            if call.elsewhere(("localhost", "127.0.0.1")) or pod_gpus is None or started is None:
                continue
            # A program that does not say it may drive all GPUs from one process.
            if started * (gpus_each or 1) != pod_gpus and not (gpus_each is None and started == 1):
                yield container.violation(
                    f"mpirun starts {started} processes for {pod_gpus} GPUs of the pod, {gpus_each or 1} per process",
                    *_place(call),
                )


def _processes(call: Mpirun, workers: int) -> int | None:
    if call.processes is not None:
        return call.count
    per_worker = number(call.per_node.text) if call.per_node is not None else None
    return per_worker * workers if per_worker is not None else None


def _place(call: Mpirun) -> tuple[str | int, ...]:
    word = call.processes or call.per_node
    return word.place if word is not None else call.place


def _well_formed(container: Container, call: Mpirun) -> Iterator[Violation]:
    word = call.processes
    if word is not None and not call.count and "$" not in word.text and "`" not in word.text:
        yield container.violation(f"mpirun -np {brief(word.text)} is not a number of processes", *word.place)


MPI_NP = Rule(
    name="mpi-np",
    what="mpirun -np equals workers x slotsPerWorker; in a single pod, processes x GPUs per process equals the pod's "
    "GPUs.",
    why="With more processes than slots mpirun ends with `There are not enough slots available in the system to "
    "satisfy the slots that were requested`; with fewer, GPUs that the job holds stay idle unnoticed.",
    remedy="Set -np to Worker.replicas x slotsPerWorker, or leave it out: mpirun then fills every slot",
    source="R-4.3-2, B-4.4, B-5.4",
    severity=Severity.MANDATORY,
    examine=_mpi_np,
)


def _mpi_slots(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
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
    examine=_mpi_slots,
    kinds=(MPI_JOB_V2BETA1,),
)


_BOUNDS_PLACES: dict[str, Path] = {JOB.kind: ("spec",), CRON_JOB.kind: ("spec", "jobTemplate", "spec")}


class MpiBounded(Parameters):
    """How often a job may be retried."""

    retries: int = Field(default=6, ge=0, description="maximum number of retries; default: that of Kubernetes")


def _mpi_bounded(subject: Obj, _: Inventory, parameters: MpiBounded) -> Iterator[Violation]:
    is_mpi = subject.kind == MPI_JOB_V2BETA1.kind
    if not is_mpi and not any(gpus(container) or rdma(container) for container in subject.containers):
        return
    place = _BOUNDS_PLACES.get(subject.kind) or mpirun.bounds_place(subject.version)
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
