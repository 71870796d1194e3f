"""GPUs come through the device plugin, not by variables, annotations or mounts that the runtime reads."""

import posixpath
from collections.abc import Iterator
from fnmatch import fnmatchcase

from pydantic import Field

from core.apis.kinds import RUNTIME_CLASS
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.pods import Container, Pod
from policies.manifests.values import brief, read
from policies.rule import ALL_KINDS, Rule
from policies.views.devices import gpus
from policies.views.environment import (
    DEVICE_VARIABLES,
    ENV,
    NOTHING,
    READ,
    VISIBLE,
    VOID,
    is_legacy_image,
    loose_variables,
    selects_devices,
    variables,
)
from policies.views.tenants import TENANTS, Tenancy

_DEVICE_LISTS = ("/var/run/nvidia-container-devices", "/run/nvidia-container-devices")
_FOLDER = "nvidia-container-devices"
_MOUNTS = (("volumeMounts", "mountPath"), ("volumeDevices", "devicePath"))
_LISTS = frozenset(field for field, _ in _MOUNTS)
_CLASS = "runtimeClassName"
_VOID = f"Delete {_CLASS}, which no container with a request needs, or set {VISIBLE}: {VOID}; {TENANTS}"


class GpuByPluginOnly(Tenancy):
    """Which runtime classes give containers GPUs."""

    runtime_classes: tuple[str, ...] = Field(
        default=("nvidia", "nvidia-*"),
        description="patterns of the runtime classes of NVIDIA's container toolkit, under which a container gets the "
        "GPUs that its image's variables name",
    )


def _examine(subject: Obj, _: Inventory, parameters: GpuByPluginOnly) -> Iterator[Violation]:
    if (subject.group, subject.kind) == (RUNTIME_CLASS.group, RUNTIME_CLASS.kind):
        yield from _renamed_class(subject, parameters)
        return
    violations = [*_pods(subject, parameters), *([] if subject.known else _loose_variables(subject))]
    if violations and not parameters.excepts(subject):
        yield from violations


def _pods(subject: Obj, parameters: GpuByPluginOnly) -> Iterator[Violation]:
    for pod in subject.pods:
        if "annotations" in pod.metadata.tree or subject.unknown:
            yield from _annotations(pod.metadata)
        for container in pod.containers:
            if ENV in container.tree:
                yield from _environment(container)
            if subject.unknown or not _LISTS.isdisjoint(container.tree):
                yield from _mounts(container)
        if _CLASS in pod.tree or subject.unknown:
            yield from _class(pod, parameters)


def _environment(container: Container) -> Iterator[Violation]:
    values: dict[str, str] = {}
    for variable in variables(container, READ.__contains__):
        values[variable.name] = variable.value
        if selects_devices(variable.name, variable.value, container):
            yield container.violation(f"sets {variable.name} to {brief(variable.value)}", *variable.place)
    if is_legacy_image(values, container) and not _names_devices(container):
        message = f"sets CUDA_VERSION without {VISIBLE} and NVIDIA_REQUIRE_CUDA: its image counts as older than 2017"
        yield container.violation(message, ENV)


def _names_devices(container: Container) -> bool:
    return any(read(entry, "name") == VISIBLE for entry in container.entries(ENV))


def _annotations(metadata: Part) -> Iterator[Violation]:
    for key, value in metadata.mapping("annotations").items():
        if isinstance(key, str) and key.startswith(("cdi.k8s.io/", "nvidia.cdi.k8s.io/")) and value != "":
            yield metadata.violation(
                f"has the annotation {key}: {brief(value)}, by which runtimes give it devices", "annotations", key
            )


def _mounts(container: Container) -> Iterator[Violation]:
    for field, key in _MOUNTS:
        for mount in container.parts(field) if _mentions(container, field, key) else ():
            path = posixpath.normpath(mount.text(key) or ".")
            if any(path == folder or path.startswith(f"{folder}/") for folder in _DEVICE_LISTS):
                yield mount.violation(f"mounts {path[:200]}, where the runtime reads a list of GPUs", key)


def _mentions(container: Container, field: str, key: str) -> bool:
    """Return whether a list of mounts has such a folder, or may have one; most have none."""
    entries = container.tree.get(field)
    if entries is None or container.object.unknown:
        return entries is not None
    return any(_FOLDER in str(read(entry, key)) for entry in entries) if isinstance(entries, list) else False


def _class(pod: Pod, parameters: GpuByPluginOnly) -> Iterator[Violation]:
    name = pod.text(_CLASS)
    if name and any(fnmatchcase(name, pattern) for pattern in parameters.runtime_classes):
        for container in pod.containers:
            if not (gpus(container) or container.hidden(ENV) or _names_devices(container)):
                message = f"requests no GPU and gets those that its image names, by the runtime class {name}"
                yield container.violation(message, ENV).with_remedy(_VOID)


def _renamed_class(subject: Obj, parameters: GpuByPluginOnly) -> Iterator[Violation]:
    handler = subject.text("handler")
    allowed_handler, allowed_name = (
        any(fnmatchcase(name, pattern) for pattern in parameters.runtime_classes) for name in (handler, subject.name)
    )
    if allowed_handler and not allowed_name:
        message = f"gives pods the runtime {handler[:80]} by a name that is not among the parameter runtime_classes"
        yield subject.violation(message, "handler").with_remedy("Delete it, or add its name to that parameter")


def _loose_variables(subject: Obj) -> Iterator[Violation]:
    for part, name, field in loose_variables(subject):
        value = part.read(field) if name in DEVICE_VARIABLES else None
        if isinstance(value, str) and selects_devices(name, value, None):
            yield part.violation(f"sets {name} to {brief(value)}", field)


GPU_BY_PLUGIN_ONLY = Rule(
    name="gpu-by-plugin-only",
    what=f"No container sets {VISIBLE} to anything but {' or '.join(sorted(NOTHING - {''}))}, or uses another "
    "variable, annotation or mount through which NVIDIA's container runtime or CDI gives devices. None runs under "
    "NVIDIA's runtime class without a GPU request. Infrastructure is exempt.",
    why="The runtime gives a container every GPU that the variable names, without request, quota or scheduler, even "
    "those of other tenants. An explicit value also overrides the device plugin's. NVIDIA_MOFED gives every RDMA "
    "device of the node in the same way. Variables that an image sets are in no manifest; gpu-operator-closed covers "
    "those.",
    remedy=f"Delete the setting, and request nvidia.com/gpu or rdma/<name> under limits; {TENANTS}",
    source="P-13, platform-facts 1.1; NVIDIA/nvidia-container-toolkit, internal/config/image",
    severity=Severity.MANDATORY,
    parameters=GpuByPluginOnly,
    examine=_examine,
    kinds=ALL_KINDS,
)
