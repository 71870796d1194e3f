"""A container that runs NCCL between GPUs has a memory volume at /dev/shm, with a size within its memory limit."""

from collections.abc import Iterator, Mapping
from posixpath import normpath

from core.apis.quantity import amount
from core.wording import plural
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container, Pod
from policies.manifests.values import Unknown, brief
from policies.rule import Parameters, Rule
from policies.views.devices import RUNNING, gpus

_PLACE = "/dev/shm"  # noqa: S108 - NCCL's shared memory, not a temporary file


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for pod in subject.pods:
        if pod.role == "Launcher" and subject.read("spec", "runLauncherAsWorker") is not True:
            continue
        enough = 1 if pod.role else 2  # a worker has its peers in other pods
        for container in pod.containers:
            requests = gpus(container) if container.group == RUNNING else ()
            if requests and (count := sum(request.count for request in requests)) >= enough:
                yield from _container(pod, container, count)


def _container(pod: Pod, container: Container, count: int) -> Iterator[Violation]:
    if pod.read("hostIPC") is True:
        return  # it has the node's own
    mount = next((entry for entry in container.entries("volumeMounts") if _is_shared_memory(entry)), None)
    if mount is None:
        yield container.violation(
            f"has {plural(count, 'GPU')} and no volume at {_PLACE}, where it gets 64 MiB", "volumeMounts"
        )
        return
    name = mount.get("name")
    for index, volume in enumerate(pod.entries("volumes")):
        if isinstance(volume, Mapping) and volume.get("name") == name:
            yield from _volume(pod, container, index)
            return
    if not isinstance(name, Unknown):
        yield container.violation(f"mounts {brief(name)} at {_PLACE}, which is not a volume of the pod", "volumeMounts")


def _is_shared_memory(mount: object) -> bool:
    path = mount.get("mountPath") if isinstance(mount, Mapping) else None
    return isinstance(path, str) and path.startswith(_PLACE) and normpath(path) == _PLACE


def _volume(pod: Pod, container: Container, index: int) -> Iterator[Violation]:
    place = ("volumes", index, "emptyDir")
    directory = pod.mapping(*place)
    medium = directory.get("medium")
    if medium != "Memory":
        if not isinstance(medium, Unknown):
            message = f"the volume at {_PLACE} of container {container.name} is not an emptyDir with medium Memory"
            yield pod.violation(message, *place, "medium")
        return
    limit = directory.get("sizeLimit")
    if limit is None:
        message = f"the volume at {_PLACE} of container {container.name} has no sizeLimit"
        yield pod.violation(message, *place, "sizeLimit")
        return
    size, memory = amount(limit), amount(container.read("resources", "limits", "memory"))
    if isinstance(limit, Unknown):
        return
    if size is None or size <= 0:
        yield pod.violation(f"sizeLimit {brief(limit)} of the volume at {_PLACE} is not a size", *place, "sizeLimit")
    elif memory is not None and size > memory:
        message = f"the volume at {_PLACE} may take {brief(limit)}, and container {container.name} has less memory"
        yield pod.violation(message, *place, "sizeLimit")


SHARED_MEMORY = Rule(
    name="shared-memory",
    what=f"MPI workers with GPUs, and containers with several GPUs, mount an emptyDir of medium Memory at {_PLACE}, "
    "whose sizeLimit is within the container's memory limit.",
    why="A container gets 64 MiB of shared memory. NCCL needs more for each GPU and ends with `posix_fallocate failed: "
    "No space left on device`. What is written there counts as the container's memory: without a sizeLimit it grows "
    "until the container is killed (OOMKilled).",
    remedy=f"Mount an emptyDir with medium Memory at {_PLACE}, and set its sizeLimit and the container's memory limit",
    source="R-4.3-7, platform-facts 4.3 rule 15",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
)
