"""Volumes that containers mount, /dev/shm among them."""

from collections.abc import Iterator, Mapping
from itertools import islice
from posixpath import normpath

from core.apis.kinds import LEADER_WORKER_SET, STATEFUL_SET
from core.apis.quantity import amount
from core.wording import plural
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container, Pod
from policies.manifests.values import Path, Unknown, brief, entries, is_mapping, read
from policies.rule import Parameters, Rule, Severity
from policies.views.devices import RUNNING, gpus

_MOST = 20
_TEMPLATES: Mapping[str, Path] = {
    STATEFUL_SET.kind: ("spec", "volumeClaimTemplates"),
    LEADER_WORKER_SET.kind: ("spec", "leaderWorkerTemplate", "volumeClaimTemplates"),
}
"""Where kinds have templates of claims that become volumes of their pods; JobSets have them beside their jobs."""
_REPLICATED = "replicatedJobs"
_MOUNTS = (("volumeMounts", "mountPath"), ("volumeDevices", "devicePath"))
_FIELDS = frozenset(field for field, _ in _MOUNTS)


def _mounts_have_volumes(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for pod in subject.pods:
        mounting = [container for container in pod.containers if not _FIELDS.isdisjoint(container.tree)]
        if mounting:
            volumes = _volumes(subject, pod)
            for container in mounting:
                yield from islice(_mounts(container, volumes), _MOST)


def _volumes(subject: Obj, pod: Pod) -> set[str] | None:
    templates = _TEMPLATES.get(subject.kind)
    if pod.hidden("volumes") or (templates and subject.hidden(*templates)):
        pod.read("volumes")
        return None
    names = [read(entry, "name") for entry in pod.entries("volumes")]
    if templates:
        names += [read(entry, "metadata", "name") for entry in subject.entries(*templates)]
    if _REPLICATED in pod.path:
        policies = subject.entries(*pod.path[: pod.path.index(_REPLICATED)], "volumeClaimPolicies")
        claims = (claim for policy in policies for claim in entries(policy, "templates"))
        names += [read(claim, "metadata", "name") for claim in claims]
    return {name for name in names if isinstance(name, str)}


def _mounts(container: Container, volumes: set[str] | None) -> Iterator[Violation]:
    for key, place in _MOUNTS:
        if key not in container.tree and not container.object.unknown:
            continue
        paths: dict[str, int] = {}
        for index, entry in enumerate(container.entries(key)):
            if not is_mapping(entry):
                continue
            name, path = entry.get("name"), entry.get(place)
            if volumes is not None and isinstance(name, str) and name not in volumes:
                yield container.violation(f"mounts {brief(name)}, which is not a volume of its pod", key, index, "name")
            if isinstance(path, str) and paths.setdefault(path, index) != index:
                yield container.violation(f"mounts something at {brief(path)} twice", key, index, place)


MOUNTS_HAVE_VOLUMES = Rule(
    name="mounts-have-volumes",
    what="Every volume that a container mounts is defined in its pod, and no two are mounted at the same path.",
    why='The API server refuses the pod (volumeMounts[0].name: Not found: "data"; mountPath: must be unique). The '
    "operator creates the pods of an MPIJob, so the job is accepted but its workers never appear. This happens when "
    "the volumes of a template are one level too far out.",
    remedy="Add the volume to the pod's volumes, or mount one that the pod has",
    source="E-25, E-54",
    severity=Severity.MANDATORY,
    examine=_mounts_have_volumes,
)


_PLACE = "/dev/shm"  # noqa: S108 - NCCL's shared memory, not a temporary file


def _shared_memory(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
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
    examine=_shared_memory,
)
