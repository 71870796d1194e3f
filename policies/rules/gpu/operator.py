"""The GPU Operator gives no container a device that it has not requested."""

from collections.abc import Iterator

from core.apis.kinds import CLUSTER_POLICY, LIMIT_RANGE
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import brief, read
from policies.rule import Parameters, Rule

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
    """Return the value of a variable, the last one of its name; empty when it is not set."""
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
