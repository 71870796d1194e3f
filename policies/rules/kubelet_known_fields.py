"""What a KubeletConfig hands to the kubelets are fields of theirs, and none that OpenShift keeps for itself."""

from collections.abc import Iterator, Mapping

from apis.fields import types
from apis.kinds import KUBELET_CONFIG
from policies.findings import Severity
from policies.objects import Obj
from policies.rule import Parameters, Remark, Rule
from policies.values import Path, Unknown, brief, read
from policies.views.fields import Walk
from policies.views.placement import explain
from policies.world import World

_PLACE: Path = ("spec", "kubeletConfig")
_SELECTOR: Path = ("spec", "machineConfigPoolSelector")
_TYPE = "KubeletConfiguration"
_MOST = 20
_KEPT: tuple[Path, ...] = (
    *(("cgroupDriver",), ("clusterDNS",), ("clusterDomain",), ("featureGates",), ("staticPodPath",)),
    *(("failSwapOn",), ("memorySwap", "swapBehavior")),
)
"""What OpenShift's controller lets nobody set (openshift/machine-config-operator, validateUserKubeletConfig)."""
_SIZING: Path = ("spec", "autoSizingReserved")
_EMPTY: tuple[object, ...] = (None, "", [], {})


def _examine(subject: Obj, _: World, __: Parameters) -> Iterator[Remark]:
    if not subject.mapping(*_SELECTOR) and not subject.hidden(*_SELECTOR):
        yield subject.remark("has no machineConfigPoolSelector, so that it is for no node", *_SELECTOR)
    settings = subject.read(*_PLACE)
    if not isinstance(settings, Mapping):
        if settings is not None and not isinstance(settings, Unknown):
            yield subject.remark(f"kubeletConfig is {brief(settings)} where an object is expected", *_PLACE)
        return
    for path in _KEPT:
        value = read(settings, *path)
        if value not in _EMPTY and not isinstance(value, Unknown):
            message = f"{path[-1]} is OpenShift's own, which refuses the whole object"
            yield subject.remark(message, *_PLACE, *path).mended(f"Delete {path[-1]}")
    if subject.read(*_SIZING) is True and settings.get("systemReserved"):
        message = "autoSizingReserved and systemReserved exclude each other, and OpenShift refuses the whole object"
        yield subject.remark(message, *_SIZING).mended("Delete autoSizingReserved, or systemReserved")
    walk = Walk(settings, types()[_TYPE], _MOST + 1)
    for misfit in walk.misfits[:_MOST]:
        remark = subject.remark(explain(misfit), *_PLACE, *misfit.path)
        yield remark.mended(misfit.remedy) if misfit.remedy else remark
    if len(walk.misfits) > _MOST:
        yield subject.remark("more fields of it do not fit, which are not listed", *_PLACE)


KUBELET_KNOWN_FIELDS = Rule(
    name="kubelet-known-fields",
    what="A KubeletConfig selects a pool, and what it hands on are fields of the kubelet, each with what it takes, and "
    "none that OpenShift keeps for itself.",
    why="The API server takes any content of kubeletConfig. A field that the kubelet does not have, such as a misspelt "
    "topologyManagerPolicy, is dropped without a message, and GPU, adapter and memory of a pod are on different "
    "sockets. A value of a wrong type, or a field of OpenShift's own, keeps the object from all nodes (Error: "
    "KubeletConfiguration: clusterDomain is not allowed to be set, but contains: ...); a policy that is none keeps the "
    "kubelet from starting, and the pool degrades at its first node.",
    remedy="Write the field as the kubelet's configuration v1beta1 has it, and select the pool of the GPU nodes",
    source="platform-facts 1.11 and 4.3 rule 30, D-2.5, D-2.6",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(KUBELET_CONFIG,),
)
