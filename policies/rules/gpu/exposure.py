"""Containers have the GPUs that they request: no variable, mount, annotation or operator gives them others."""

import posixpath
from collections.abc import Iterator
from fnmatch import fnmatchcase

from pydantic import Field

from core.apis.kinds import CLUSTER_POLICY, LIMIT_RANGE, RUNTIME_CLASS
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.pods import Container, Pod
from policies.manifests.values import brief, read
from policies.rule import ALL_KINDS, Parameters, Rule, Severity
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

_BY_VARIABLE = "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED"
_BY_MOUNT = "ACCEPT_NVIDIA_VISIBLE_DEVICES_AS_VOLUME_MOUNTS"
_DEFAULT_RUNTIME = "NVIDIA_RUNTIME_SET_AS_DEFAULT"
_STRATEGY, _MOUNTS = "DEVICE_LIST_STRATEGY", "volume-mounts"
_ENV, _PLUGIN_ENV = ("spec", "toolkit", "env"), ("spec", "devicePlugin", "env")
_FALSE, _TRUE = ("false", "0", "f"), ("true", "1", "t")
_WITHOUT_CDI = (
    f"Enable cdi; or set {_BY_MOUNT} in toolkit.env and {_STRATEGY}: {_MOUNTS} in devicePlugin.env, so that only "
    "mounts of the node's /dev/null select GPUs"
)


def _gpu_operator_closed(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    if subject.partial or subject.read("spec", "toolkit", "enabled") is False:
        return  # the toolkit is the host's, and what it takes is in no manifest
    if _value(subject, _ENV, _BY_VARIABLE) not in _FALSE:
        yield subject.violation("lets every container choose GPUs by NVIDIA_VISIBLE_DEVICES", *_ENV)
    if _value(subject, _ENV, _DEFAULT_RUNTIME) in _TRUE:
        yield subject.violation("makes nvidia the runtime of every container, requested or not", *_ENV).with_remedy(
            f"Delete {_DEFAULT_RUNTIME} from toolkit.env"
        )
    mounts = _value(subject, _ENV, _BY_MOUNT) in _TRUE
    if subject.read("spec", "cdi", "enabled") is not False:
        if mounts:
            yield subject.violation(
                "lets containers name GPUs by mounts, which no one needs with CDI", *_ENV
            ).with_remedy(f'Set {_BY_MOUNT} to "false" in toolkit.env')
    elif not mounts or _value(subject, _PLUGIN_ENV, _STRATEGY) != _MOUNTS:
        message = "is without CDI, and its device plugin names GPUs by the variable that the toolkit then refuses"
        yield subject.violation(message, "spec", "cdi", "enabled").with_remedy(_WITHOUT_CDI)


def _value(subject: Obj, place: tuple[str, ...], name: str) -> str:
    values = [read(entry, "value") for entry in subject.entries(*place) if read(entry, "name") == name]
    return values[-1].lower() if values and isinstance(values[-1], str) else ""


GPU_OPERATOR_CLOSED = Rule(
    name="gpu-operator-closed",
    what=f"The ClusterPolicy sets {_BY_VARIABLE} to false in toolkit.env, injects GPUs through CDI, and does not make "
    "nvidia the runtime of every container.",
    why="NVIDIA's images set NVIDIA_VISIBLE_DEVICES=all themselves, where no rule about manifests sees it. By default "
    "the toolkit gives such a container all GPUs of its node, including those of other tenants' jobs. With CDI, the "
    "default since 25.10, it does so only under the runtime class nvidia, which any pod may name. The operator's own "
    "pods are privileged and not affected.",
    remedy=f'Add {{name: {_BY_VARIABLE}, value: "false"}} to spec.toolkit.env',
    source="platform-facts 1.1; NVIDIA/gpu-operator v26.7.0 controllers/object_controls.go; NVIDIA/gpu-operator issue "
    "421",
    severity=Severity.MANDATORY,
    examine=_gpu_operator_closed,
    kinds=(CLUSTER_POLICY,),
)


def _no_default_devices(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for limit in subject.parts("spec", "limits"):
        for field in ("default", "defaultRequest"):
            for resource, value in limit.mapping(field).items():
                if isinstance(resource, str) and "/" in resource and value not in (0, "0"):
                    yield limit.violation(f"gives every container {resource}: {brief(value)}", field, resource)


NO_DEFAULT_DEVICES = Rule(
    name="no-default-devices",
    what="No LimitRange has a default or defaultRequest of a device (nvidia.com/gpu, rdma/<name>).",
    why="The API server writes the default into every container that requests none: launchers, init containers and "
    "sidecars each take a GPU or an RDMA device, and no manifest shows it.",
    remedy="Delete the resource from the LimitRange, and request it in the containers that need it",
    source="P-13; kubernetes.io/docs/concepts/policy/limit-range",
    severity=Severity.MANDATORY,
    examine=_no_default_devices,
    kinds=(LIMIT_RANGE,),
)


_DEVICE_LISTS = ("/var/run/nvidia-container-devices", "/run/nvidia-container-devices")
_FOLDER = "nvidia-container-devices"
_MOUNT_LISTS = (("volumeMounts", "mountPath"), ("volumeDevices", "devicePath"))
_LISTS = frozenset(field for field, _ in _MOUNT_LISTS)
_CLASS = "runtimeClassName"
_VOID = f"Delete {_CLASS}, which no container with a request needs, or set {VISIBLE}: {VOID}; {TENANTS}"


class GpuByPluginOnly(Tenancy):
    """Which runtime classes give containers GPUs."""

    runtime_classes: tuple[str, ...] = Field(
        default=("nvidia", "nvidia-*"),
        description="patterns of the runtime classes of NVIDIA's container toolkit, under which a container gets the "
        "GPUs that its image's variables name",
    )


def _gpu_by_plugin_only(subject: Obj, _: Inventory, parameters: GpuByPluginOnly) -> Iterator[Violation]:
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
    for field, key in _MOUNT_LISTS:
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
    examine=_gpu_by_plugin_only,
    kinds=ALL_KINDS,
)
