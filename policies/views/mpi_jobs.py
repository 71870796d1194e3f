"""An MPIJob as the rules see it, whatever its API generation."""

from collections.abc import Iterator, Sequence
from posixpath import basename

from core.apis.mpirun import number
from core.apis.quantity import whole
from policies.manifests.objects import Obj
from policies.manifests.pods import Container, Pod
from policies.manifests.values import Path, Unknown
from policies.views import devices
from policies.views.command_lines import Mpirun, calls

REPLICAS: Path = ("spec", "mpiReplicaSpecs")
LAUNCHER: Path = (*REPLICAS, "Launcher")
WORKER: Path = (*REPLICAS, "Worker")
SLOTS: Path = ("spec", "slotsPerWorker")

_ALL_GPUS = ("--num_gpus", "--num-gpus", "--gpus", "--nproc_per_node", "--nproc-per-node", "--ngpus")


class MpiJobView:
    """One MPIJob; every number is None when the manifest does not say it, or says no number."""

    def __init__(self, job: Obj) -> None:
        self.job = job
        by_role = {pod.role: pod for pod in job.pods}
        self.launcher: Pod | None = by_role.get("Launcher")
        self.worker: Pod | None = by_role.get("Worker")

    @property
    def workers(self) -> int | None:
        """Number of worker pods; a launcher that works as well counts as one (v2beta1)."""
        value = self.job.read(*WORKER, "replicas")
        replicas = 1 if value is None and self.worker is not None else _count(value)
        if replicas is None:
            return None
        return replicas + (self.job.read("spec", "runLauncherAsWorker") is True)

    @property
    def slots(self) -> int | None:
        """Processes per worker that the hostfile allows; 1 when it is not set."""
        value = self.job.read(*SLOTS)
        return 1 if value is None else _count(value)

    @property
    def gpus(self) -> int | None:
        """GPUs of one worker pod; None when one of its requests is not known."""
        return count_gpus(self.worker) if self.worker is not None else 0

    @property
    def mpiruns(self) -> Iterator[tuple[Container, Mpirun]]:
        """The calls of mpirun in the launcher."""
        for container in self.launcher.containers if self.launcher is not None else ():
            for call in calls(container):
                yield container, call


def count_gpus(pod: Pod) -> int | None:
    """Return the GPUs of a pod's main containers, None when one is not known."""
    total = 0
    for container in pod.containers:
        if container.group != devices.RUNNING:
            continue
        if container.claims_unknown:
            return None
        if pod.object.unknown and any(
            request.hidden and devices.is_gpu(request.resource) for request in container.requests
        ):
            return None
        for request in devices.gpus(container):
            total += request.count
    return total


def gpus_per_process(program: Sequence[str]) -> int | None:
    """Return how many GPUs one process of a program drives, None when its command line does not say.

    nccl-tests drive -g GPUs in each of -t threads, 1 each by default.
    """
    if any(basename(word).endswith("_perf") for word in program[:2]):
        return _nccl_tests(program)
    for index, word in enumerate(program):
        if word in ("--variable_update=horovod", "--use_horovod", "--horovod"):
            return 1
        option, equals, text = word.partition("=")
        if option in _ALL_GPUS:
            return number(text if equals else program[index + 1] if index + 1 < len(program) else "")
    return None


def _nccl_tests(program: Sequence[str]) -> int | None:
    factors = {"t": 1, "g": 1}
    for index, word in enumerate(program):
        option, equals, text = word.partition("=")
        key = {"-t": "t", "--nthreads": "t", "-g": "g", "--ngpus": "g"}.get(option)
        if key is None:
            continue
        value = number(text if equals else program[index + 1] if index + 1 < len(program) else "")
        if value is None:
            return None
        factors[key] = value
    return factors["t"] * factors["g"]


def _count(value: object) -> int | None:
    if isinstance(value, Unknown):
        return None
    count = whole(value)
    return count if count is not None and 0 < count < 10**6 else None
