"""Reading and changing single objects: POST to create, server-side apply to update, DELETE with propagation."""

import time
from dataclasses import dataclass
from typing import Any

from core.apis.client import APPLY, JSON_PATCH, ApiError
from core.apis.field_owners import is_ours, is_transferable, union
from toolkit.engine.prediction.blocking_events import WARNINGS
from toolkit.engine.prediction.inputs import ObjectType, annotation, name_of, namespace_of
from toolkit.engine.prediction.values import Properties
from toolkit.simulator.provider.connection import Answer, Connection
from toolkit.simulator.provider.discovery import Discovery, Endpoint, UnknownKindError

PROPAGATION = "pulumi.com/deletionPropagationPolicy"
# Who creates, in the words of managedFields; the first update takes these fields over.
CREATOR = "pulumi-kubernetes"
# Races that are over within seconds: parallel creates under a quota, a namespace whose default service account the
# controller manager has not made yet, and an object of the same name that was deleted without waiting (skipAwait).
_RACES = (
    "Operation cannot be fulfilled on resourcequotas",
    "error looking up service account",
    "object is being deleted",
)
_RACE_PAUSES = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
_TRANSFER_ATTEMPTS = 5
_STORAGE_CLASS = ObjectType("storage.k8s.io", "v1", "StorageClass")


@dataclass(frozen=True)
class Address:
    """One object: its kind, its namespace (empty for none or the default), its name."""

    kind: ObjectType
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind.kind} {self.namespace + '/' if self.namespace else ''}{self.name}"


def address_of(kind: ObjectType, manifest: Properties) -> Address:
    """Where a manifest's object is."""
    return Address(kind, namespace_of(manifest), name_of(manifest))


class Objects:
    """The objects of one cluster."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.discovery = Discovery(connection)
        self._default_namespace = connection.default_namespace or "default"

    def path(self, address: Address) -> str:
        """Return the object's URL path. Raises UnknownKindError."""
        return self._path(self.discovery.find_in_any_version(address.kind), address)

    def _path(self, endpoint: Endpoint, address: Address, *, collection: bool = False) -> str:
        namespace = address.namespace or self._default_namespace
        return endpoint.path(namespace, "" if collection else address.name)

    def get(self, address: Address) -> Properties | None:
        """Return the live object, or None if there is none. Raises UnknownKindError, ApiError, UnreachableError."""
        try:
            return self._connection.request("GET", self.path(address)).body
        except ApiError as error:
            if error.missing:
                return None
            raise

    def all(self, kind: ObjectType, namespace: str) -> list[Properties]:
        """Return the objects of a kind in a namespace; none where they cannot be read."""
        try:
            path = self.discovery.find(kind).path(namespace)
            items: list[Properties] = self._connection.request("GET", path).body.get("items", [])
        except (ApiError, UnknownKindError):
            return []
        return items

    def warnings(self, namespace: str) -> list[Properties]:
        """Return the Warning events of a namespace."""
        path = f"/api/v1/namespaces/{namespace}/events"
        items: list[Properties] = self._connection.request("GET", path, query=WARNINGS).body.get("items", [])
        return items

    def storage_class(self, name: str) -> Properties | None:
        """Return a storage class, or None if there is none of that name."""
        return self.get(Address(_STORAGE_CLASS, "", name))

    def create(self, address: Address, manifest: Properties, *, dry_run: bool = False) -> Answer:
        """POST the object. Raises ApiError (409 AlreadyExists if there is one), UnknownKindError."""
        path = self._path(self._endpoint(address.kind), address, collection=True)
        return self._retried("POST", path, query=_query(CREATOR, dry_run=dry_run), body=manifest)

    def apply(
        self, address: Address, manifest: Properties, manager: str, *, force: bool = False, dry_run: bool = False
    ) -> Answer:
        """Server-side apply: fields that `manager` owned and that are not in the manifest any more are removed.

        Raises ApiError (409 Conflict when another manager owns a field with another value, unless forced).
        """
        query = {**_query(manager, dry_run=dry_run), "force": "true" if force else "false"}
        path = self._path(self._endpoint(address.kind), address)
        return self._retried("PATCH", path, query=query, body=manifest, content_type=APPLY)

    def put(self, address: Address, manifest: Properties, manager: str, *, dry_run: bool = False) -> Answer:
        """Replace the existing object."""
        path = self._path(self._endpoint(address.kind), address)
        return self._connection.request("PUT", path, query=_query(manager, dry_run=dry_run), body=manifest)

    def transfer(self, address: Address, live: Properties, manager: str) -> Properties:
        """Make what kubectl changed, and our own create, part of what `manager` applies; return the object then."""
        for _ in range(_TRANSFER_ATTEMPTS):
            metadata = live.get("metadata", {})
            merged = transferred(metadata.get("managedFields", []), manager, address.kind.api_version)
            if merged is None:
                return live
            patch = [
                {"op": "replace", "path": "/metadata/managedFields", "value": merged},
                # The server refuses the patch if the object has changed since.
                {"op": "replace", "path": "/metadata/resourceVersion", "value": metadata["resourceVersion"]},
            ]
            try:
                query = {"fieldManager": manager}
                path = self.path(address)
                return self._connection.request("PATCH", path, query=query, body=patch, content_type=JSON_PATCH).body
            except ApiError as error:
                if not error.conflict:
                    raise
            live = self.get(address) or live
        return live

    def delete(self, address: Address, inputs: Properties) -> None:
        """Ask for deletion; the object may stay until its dependents and finalizers are gone. 404 is fine."""
        propagation = annotation(inputs, PROPAGATION).lower()
        policy = propagation if propagation in ("orphan", "background") else "foreground"
        body = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy.capitalize()}
        try:
            self._connection.request("DELETE", self.path(address), body=body)
        except ApiError as error:
            if not error.missing:
                raise

    def serves(self, kind: ObjectType) -> bool:
        """Return whether the server served exactly this version of the kind at the last request."""
        try:
            self.discovery.find(kind)
        except UnknownKindError:
            return False
        return True

    def _endpoint(self, kind: ObjectType) -> Endpoint:
        """Return the endpoint of exactly this version; what is not known is looked up again."""
        try:
            return self.discovery.find(kind)
        except UnknownKindError:
            return self.discovery.find(kind, fresh=True)

    def _retried(self, method: str, path: str, **arguments: Any) -> Answer:
        for pause in _RACE_PAUSES:
            try:
                return self._connection.request(method, path, **arguments)
            except ApiError as error:
                if not any(race in str(error) for race in _RACES):
                    raise
            time.sleep(pause)
        return self._connection.request(method, path, **arguments)


def _query(manager: str, *, dry_run: bool) -> dict[str, str]:
    return {"fieldManager": manager, **({"dryRun": "All"} if dry_run else {})}


def forced_in_preview(live: Properties) -> bool:
    """Whether the preview of an update must be forced: a dry run cannot transfer the fields of our create."""
    entries = live.get("metadata", {}).get("managedFields", [])
    return any(entry.get("operation") == "Update" and is_ours(entry) for entry in entries)


def transferred(entries: list[Properties], manager: str, api_version: str) -> list[Properties] | None:
    """Return the entries with all that can be merged into one apply entry of `manager`; None if nothing can.

    Without this, a field that leaves the program would stay on the object: its creation (by POST) still owns it.
    """
    transferable = [entry for entry in entries if is_transferable(entry)]
    if not transferable:
        return None
    own = [entry for entry in entries if entry.get("manager") == manager and entry.get("operation") == "Apply"]
    fields: Properties = {}
    for entry in (*own, *transferable):
        fields = union(fields, entry.get("fieldsV1", {}))
    merged = {
        **(own or transferable)[0],
        "manager": manager,
        "operation": "Apply",
        "apiVersion": api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }
    return [*(entry for entry in entries if entry not in transferable and entry not in own), merged]
