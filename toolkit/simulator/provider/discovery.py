"""Which kinds the API server serves, and where: read once per group and version, and again after a new CRD."""

import threading
from dataclasses import dataclass

from core.apis.client import ApiError
from toolkit.engine.prediction.inputs import ObjectType
from toolkit.engine.prediction.values import Properties
from toolkit.simulator.provider.connection import Connection, UnreachableError


class UnknownKindError(Exception):
    """The server does not serve the kind (any more, or not yet)."""

    def __init__(self, kind: ObjectType) -> None:
        super().__init__(f'no matches for kind "{kind.kind}" in version "{kind.api_version}"')


@dataclass(frozen=True)
class Endpoint:
    """Where objects of one kind are."""

    group: str
    version: str
    plural: str
    namespaced: bool

    def path(self, namespace: str, name: str = "") -> str:
        """Return the URL path of the collection, or of one object. `namespace` is ignored for kinds without."""
        base = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        middle = f"/namespaces/{namespace}" if self.namespaced else ""
        return f"{base}{middle}/{self.plural}" + (f"/{name}" if name else "")


class Discovery:
    """A cache over the server's discovery documents."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._kinds: dict[tuple[str, str], dict[str, Endpoint]] = {}

    def find(self, kind: ObjectType, *, fresh: bool = False) -> Endpoint:
        """Return the endpoint of a kind; `fresh` asks the server again. Raises UnknownKindError."""
        key = (kind.group, kind.version)
        with self._lock:
            if fresh or key not in self._kinds:
                self._kinds[key] = self._fetch(*key)
            endpoints = self._kinds[key]
        if kind.kind in endpoints:
            return endpoints[kind.kind]
        raise UnknownKindError(kind)

    def find_in_any_version(self, kind: ObjectType) -> Endpoint:
        """As `find`, or the endpoint in another version that the server prefers: the same objects are there."""
        try:
            return self.find(kind)
        except UnknownKindError:
            for version in self._versions(kind.group):
                try:
                    return self.find(ObjectType(kind.group, version, kind.kind))
                except UnknownKindError:
                    continue
            raise

    def forget(self, group: str) -> None:
        """Ask again for a group's kinds: a CRD of it was made or removed."""
        with self._lock:
            self._kinds = {key: kinds for key, kinds in self._kinds.items() if key[0] != group}

    def _fetch(self, group: str, version: str) -> dict[str, Endpoint]:
        try:
            answer = self._connection.request("GET", f"/apis/{group}/{version}" if group else f"/api/{version}")
        except ApiError as error:
            if error.missing:
                return {}
            raise
        return {
            item["kind"]: Endpoint(group, version, item["name"], bool(item["namespaced"]))
            for item in answer.body.get("resources", [])
            if "/" not in item["name"]
        }

    def _versions(self, group: str) -> list[str]:
        if not group:
            return ["v1"]
        try:
            answer = self._connection.request("GET", f"/apis/{group}")
        except ApiError:
            return []
        return [item["version"] for item in answer.body.get("versions", [])]


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
        *("CustomResourceDefinition", "FlowSchema", "IngressClass", "MutatingWebhookConfiguration", "Namespace"),
        *("Node", "PersistentVolume", "PodSecurityPolicy", "PriorityClass", "PriorityLevelConfiguration"),
        *("RuntimeClass", "StorageClass", "ValidatingWebhookConfiguration", "VolumeAttachment"),
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
