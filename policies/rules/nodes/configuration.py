"""The form of what configures nodes."""

from collections.abc import Iterator, Mapping

from core.apis.fields import types
from core.apis.kinds import KUBELET_CONFIG, MACHINE_CONFIG
from core.apis.names import MACHINE_CONFIG_ROLE
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Path, Unknown, brief, read
from policies.rule import Parameters, Rule
from policies.views.fields import Walk
from policies.views.placement import explain

_PLACE: Path = ("spec", "kubeletConfig")
_SELECTOR: Path = ("spec", "machineConfigPoolSelector")
_MOST = 20
_KEPT: tuple[Path, ...] = (
    *(("cgroupDriver",), ("clusterDNS",), ("clusterDomain",), ("featureGates",), ("staticPodPath",)),
    *(("failSwapOn",), ("memorySwap", "swapBehavior")),
)
"""Fields that OpenShift's controller refuses (openshift/machine-config-operator, validateUserKubeletConfig)."""
_SIZING: Path = ("spec", "autoSizingReserved")
_EMPTY: tuple[object, ...] = (None, "", [], {})


def _kubelet_known_fields(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    # A NodePool of a hosted cluster chooses the ConfigMap that has it, and no selector counts.
    if not (subject.holder or subject.mapping(*_SELECTOR) or subject.hidden(*_SELECTOR)):
        yield subject.violation("has no machineConfigPoolSelector, so that it is for no node", *_SELECTOR)
    settings = subject.read(*_PLACE)
    if not isinstance(settings, Mapping):
        if settings is not None and not isinstance(settings, Unknown):
            yield subject.violation(f"kubeletConfig is {brief(settings)} where an object is expected", *_PLACE)
        return
    for path in _KEPT:
        value = read(settings, *path)
        if value not in _EMPTY and not isinstance(value, Unknown):
            message = f"{path[-1]} is reserved by OpenShift, which refuses the whole object"
            yield subject.violation(message, *_PLACE, *path).with_remedy(f"Delete {path[-1]}")
    if subject.read(*_SIZING) is True and settings.get("systemReserved"):
        message = "autoSizingReserved and systemReserved exclude each other, and OpenShift refuses the whole object"
        yield subject.violation(message, *_SIZING).with_remedy("Delete autoSizingReserved, or systemReserved")
    walk = Walk(settings, types()["KubeletConfiguration"], _MOST + 1)
    for misfit in walk.misfits[:_MOST]:
        violation = subject.violation(explain(misfit), *_PLACE, *misfit.path)
        yield violation.with_remedy(misfit.remedy) if misfit.remedy else violation
    if len(walk.misfits) > _MOST:
        yield subject.violation("further fields do not fit and are not listed", *_PLACE)


KUBELET_KNOWN_FIELDS = Rule(
    name="kubelet-known-fields",
    what="A KubeletConfig selects a pool and sets only fields that the kubelet has, with valid values, and none that "
    "OpenShift reserves.",
    why="The API server accepts any kubeletConfig. A field that the kubelet does not have, such as a misspelt "
    "topologyManagerPolicy, is dropped without a message, and a pod's GPU, adapter and memory end up on different "
    "sockets. With a value of the wrong type, or a field that OpenShift reserves, no node gets the configuration "
    "(Error: KubeletConfiguration: clusterDomain is not allowed to be set, but contains: ...). With an invalid policy "
    "the kubelet does not start, and the pool degrades at its first node.",
    remedy="Write the field as in the kubelet's configuration v1beta1, and select the pool of the GPU nodes",
    source="platform-facts 1.11 and 4.3 rule 30, D-2.5, D-2.6",
    severity=Severity.MANDATORY,
    examine=_kubelet_known_fields,
    kinds=(KUBELET_CONFIG,),
)


_VENDOR = ("/usr/", "/lib/", "/lib64/", "/bin/", "/sbin/")
_FILES = ("spec", "config", "storage", "files")
_LABEL = ("metadata", "labels", MACHINE_CONFIG_ROLE)


def _machine_config_drop_in(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for index, file in enumerate(subject.entries(*_FILES)):
        path = read(file, "path")
        if isinstance(path, str) and path.startswith(_VENDOR) and not path.startswith("/usr/local/"):
            yield subject.violation(
                f"writes {path[:200]}, which belongs to the operating system", *_FILES, index, "path"
            )
    if not subject.text(*_LABEL):
        yield subject.violation(f"has no label {MACHINE_CONFIG_ROLE}", *_LABEL)


MACHINE_CONFIG_DROP_IN = Rule(
    name="machine-config-drop-in",
    what="A MachineConfig has the label of its pool and changes units through drop-ins below /etc; it never writes a "
    "file of the operating system.",
    why="/usr is read-only on RHCOS, so the node's daemon fails and the pool degrades (read-only file system); on RHEL "
    "the next update overwrites the file. The Redpaper edits /usr/lib/systemd/system/cri-o.service manually. Without "
    "the label a MachineConfig belongs to no pool and changes nothing.",
    remedy="Write a drop-in (systemd.units[].dropins) or a file below /etc, and set the label to the pool's name",
    source="E-19, platform-facts 1.11 and 4.3 rule 30",
    severity=Severity.MANDATORY,
    examine=_machine_config_drop_in,
    kinds=(MACHINE_CONFIG,),
)
