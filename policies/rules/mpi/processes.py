"""Processes, slots and GPUs of a job that mpirun starts agree."""

from collections.abc import Iterator

from core.apis.kinds import MPI_JOB_V1ALPHA2, MPI_JOB_V2BETA1
from core.apis.mpirun import number
from core.wording import plural
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container, Pod
from policies.manifests.values import Unknown, brief
from policies.rule import Parameters, Rule
from policies.views.command_lines import Mpirun, calls
from policies.views.devices import gpus, place
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
