"""What other owners may set in a declared object, and how its fields are compared: the tables of `live`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.apis import kinds, names
from policies.manifests.values import mapping
from toolkit.review.model import Resource
from toolkit.review.paths import Path

HINTS = ("pulumi.com/", "kubectl.kubernetes.io/")
"""Annotations that configure a provider; nothing else reads them."""
SETS = frozenset(
    {"allowedCapabilities", "defaultAddCapabilities", "requiredDropCapabilities", "users", "groups", "volumes"}
    | {"verbs", "resources", "apiGroups", "resourceNames", "accessModes", "targetNamespaces"}
    | {"subjects", "rules", "ports", "taints", "tolerations", "ingress", "egress", "from", "to", "matchExpressions"}
    | {"limits", "secrets", "imagePullSecrets"}
)
"""Lists whose order has no meaning."""
QUANTITIES = frozenset(
    {"requests", "limits", "capacity", "hard", "default", "defaultRequest", "max", "min", "overhead", "storage"}
    | {"sizeLimit", "divisor", "nominalQuota", "borrowingLimit", "lendingLimit"}
)
"""Fields that are a quantity, or a map of some."""
_WHOLE: dict[str, frozenset[str]] = {
    "": frozenset({"podSelector", "namespaceSelector", "matchLabels", "selector", "nodeSelector", "labelSelector"}),
    "ResourceQuota": frozenset({"hard"}),
    "ConfigMap": frozenset({"data", "binaryData"}),
    "NetworkPolicy": frozenset({"ingress", "egress", "from", "to", "ipBlock"}),
    **dict.fromkeys(("Role", "ClusterRole"), frozenset({"rules"})),
}
"""Maps, and entries of lists, that are one value: a further key changes it. Under an empty name, of all kinds."""
_OWNED: dict[str, frozenset[Path]] = {
    "": frozenset({("status",), ("apiVersion",), ("kind",), ("metadata", "finalizers")}),
}
_BESIDE: dict[str, frozenset[str]] = {
    # OpenShift adds the pull secrets of its own registry.
    "ServiceAccount": frozenset({"secrets", "imagePullSecrets"}),
    # Kueue patches the pods of a job that it admits.
    kinds.TRAIN_JOB.kind: frozenset({"runtimePatches"}),
    # Admission adds the token's volume, how long a lost node is borne, the project's node selector.
    "Pod": frozenset({"volumes", "volumeMounts", "tolerations", "nodeSelector", "imagePullSecrets"}),
}
"""Lists and maps to which others add."""
_SUSPENDS: dict[str, Path] = {
    **dict.fromkeys((kinds.JOB.kind, kinds.JOB_SET.kind, kinds.TRAIN_JOB.kind), ("spec", "suspend")),
    "MPIJob": ("spec", "runPolicy", "suspend"),
}
_QUEUED = frozenset({"nodeSelector", "tolerations"})
"""What Kueue adds to a job's pods when it admits the job: that of the flavour."""
_COUNTED: dict[str, tuple[Path, ...]] = {
    "ClusterRole": (("aggregationRule",),),
    kinds.SECURITY_CONTEXT_CONSTRAINTS.kind: (
        *(("allowedUnsafeSysctls",), ("seccompProfiles",), ("allowedFlexVolumes",), ("allowedCapabilities",)),
        *(("defaultAddCapabilities",), ("users",), ("groups",), ("allowPrivilegedContainer",)),
        *(("allowHostNetwork",), ("allowHostPID",), ("allowHostIPC",), ("allowHostPorts",)),
        ("allowHostDirVolumePlugin",),
    ),
}
"""Fields that give power, and that a server leaves empty: they count although they are not declared."""
_LEVELS = tuple(names.POD_SECURITY + mode for mode in ("enforce", "audit", "warn"))
_INJECTED = ("config.openshift.io/inject-trusted-cabundle", "service.beta.openshift.io/inject-cabundle")
"""Label and annotation of ConfigMaps that OpenShift writes its certificates into."""


@dataclass(frozen=True)
class Fields:
    """How the fields of one object are compared."""

    owned: frozenset[Path]
    """Others set them."""
    beside: frozenset[str]
    """Others add to them."""
    whole: frozenset[str]
    """They are one value."""
    counted: tuple[Path, ...]
    """They count although they are not declared."""


def of(resource: Resource) -> Fields:
    """Return how a resource's fields are compared with those of its `live`."""
    kind, metadata = resource.kind, (mapping(resource.inputs, "metadata"), mapping(resource.live, "metadata"))
    if resource.is_patch:  # it adds to what others have
        return Fields(_OWNED[""] | _OWNED.get(kind, frozenset()), frozenset(), frozenset(), ())
    owned, beside, counted = _OWNED[""], _BESIDE.get(kind, frozenset()), list(_COUNTED.get(kind, ()))
    whole = _WHOLE[""] | _WHOLE.get(kind, frozenset())
    if (suspends := _SUSPENDS.get(kind)) is not None:
        if any(names.QUEUE_NAME in mapping(side, "labels") for side in metadata):
            owned, beside = owned | {suspends}, beside | _QUEUED  # Kueue suspends and admits
        else:
            counted.append(suspends)
    if kind == kinds.CLUSTER_ROLE.kind and resource.inputs.get("aggregationRule"):
        owned |= {("rules",)}  # its controller gathers them
    if kind == kinds.CONFIG_MAP.kind and any(_is_injected(side) for side in metadata):
        beside |= {"data"}
    if kind == kinds.NAMESPACE.kind and mapping(metadata[0], "labels").get(names.POD_SECURITY_SYNC) == "false":
        counted += [("metadata", "labels", level) for level in _LEVELS]  # else OpenShift sets them
    return Fields(owned, beside, whole, tuple(counted))


def _is_injected(metadata: Mapping[str, Any]) -> bool:
    return any(_INJECTED[place] in mapping(metadata, key) for place, key in enumerate(("labels", "annotations")))
