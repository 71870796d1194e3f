"""mpirun starts as many processes as the workers have slots, or as a single pod has GPUs."""

from collections.abc import Iterator

from core.apis.mpirun import number
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container, Pod
from policies.manifests.values import brief
from policies.rule import Parameters, Rule
from policies.views.mpi_jobs import MpiJobView, gpus, gpus_per_process
from policies.views.mpirun import Mpirun, calls

_HERE = ("localhost", "127.0.0.1")


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    if subject.kind == "MPIJob":
        yield from _mpi_job(MpiJobView(subject))
        return
    for pod in subject.pods:
        if gpus(pod):
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
            pod_gpus = gpus(pod)
            gpus_each = gpus_per_process(call.program)
            started = _processes(call, 1)
            if call.elsewhere(_HERE) or pod_gpus is None or started is None:
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
    parameters=Parameters,
    examine=_examine,
)
