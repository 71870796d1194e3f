"""Whether objects of a kind have namespaces: from what is known of kinds, the program's definitions, and the server."""

import threading

from core.apis.client import ApiError
from toolkit.engine.prediction.inputs import ObjectType
from toolkit.engine.prediction.values import Properties
from toolkit.simulator.provider.connection import UnreachableError
from toolkit.simulator.provider.discovery import Discovery, UnknownKindError

_NAMESPACED = frozenset(
    {
        *("Binding", "ConfigMap", "ControllerRevision", "CronJob", "CSIStorageCapacity", "DaemonSet", "Deployment"),
        *("Endpoints", "EndpointSlice", "Event", "HorizontalPodAutoscaler", "Ingress", "Job", "Lease", "LimitRange"),
        *("NetworkPolicy", "PersistentVolumeClaim", "Pod", "PodDisruptionBudget", "PodTemplate", "ReplicaSet"),
        *("ReplicationController", "ResourceQuota", "Role", "RoleBinding", "Secret", "Service", "ServiceAccount"),
        "StatefulSet",
    }
)
_CLUSTER_SCOPED = frozenset(
    {
        *("APIService", "CertificateSigningRequest", "ClusterRole", "ClusterRoleBinding", "CSIDriver", "CSINode"),
        *(
            "CustomResourceDefinition",
            "FlowSchema",
            "IngressClass",
            "MutatingWebhookConfiguration",
            "Namespace",
            "Node",
        ),
        *("PersistentVolume", "PodSecurityPolicy", "PriorityClass", "PriorityLevelConfiguration", "RuntimeClass"),
        *("StorageClass", "ValidatingWebhookConfiguration", "VolumeAttachment"),
    }
)


class Scopes:
    """Scopes of kinds, for one provider."""

    def __init__(self) -> None:
        self._defined: dict[tuple[str, str], bool] = {}
        self._lock = threading.Lock()

    def note(self, definition: Properties) -> None:
        """Remember the scope that a CustomResourceDefinition of the program gives its kind."""
        spec = definition.get("spec")
        names = spec.get("names") if isinstance(spec, dict) else None
        if isinstance(spec, dict) and isinstance(names, dict):
            with self._lock:
                key = str(spec.get("group")), str(names.get("kind"))
                self._defined[key] = spec.get("scope") == "Namespaced"

    def namespaced(self, kind: ObjectType, discovery: Discovery | None, *, as_patch: bool = False) -> bool:
        """Return whether the kind has namespaces; an unknown one is taken for one that has.

        `as_patch`: a patch of a custom kind, whose own kind no server serves.
        """
        if kind.builtin and kind.kind in _NAMESPACED | _CLUSTER_SCOPED:
            return kind.kind in _NAMESPACED
        if as_patch:
            return True
        with self._lock:
            defined = self._defined.get((kind.group, kind.kind))
        if defined is not None or discovery is None:
            return defined is not False
        try:
            return discovery.find(kind).namespaced
        except (UnknownKindError, ApiError, UnreachableError):
            return True
