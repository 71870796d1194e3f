"""Reading and changing single objects: POST to create, server-side apply to update, DELETE with propagation."""

import time
from dataclasses import dataclass
from typing import Any

from simulator.plugins.provider.connection import APPLY, JSON_PATCH, Answer, ApiError, Connection
from simulator.plugins.provider.discovery import Discovery, Endpoint, UnknownKindError
from simulator.plugins.provider.hindrances import WARNINGS
from simulator.plugins.provider.inputs import ObjectType, annotation, name_of, namespace_of
from simulator.plugins.provider.ownership import can_be_taken_over, taken_over
from simulator.plugins.provider.values import Properties

NOT_FOUND, FORBIDDEN, CONFLICT = 404, 403, 409
PROPAGATION = "pulumi.com/deletionPropagationPolicy"
# Seconds between the attempts to find a kind whose CRD was just made (the official provider makes five as well).
_UNKNOWN_KIND_PAUSES = (0.2, 0.5, 1.0, 1.5, 2.0)
# Races that are over within seconds: parallel creates under a quota, a namespace whose default service account the
# controller manager has not made yet, and an object of the same name that was deleted without waiting (skipAwait).
_RACES = (
    "Operation cannot be fulfilled on resourcequotas",
    "error looking up service account",
    "object is being deleted",
)
_RACE_PAUSES = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
_TAKE_OVER_ATTEMPTS = 5
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
            if error.status == NOT_FOUND:
                return None
            raise

    def pods(self, namespace: str, selector: str) -> list[Properties]:
        """Return the pods that a label selector finds."""
        path = f"/api/v1/namespaces/{namespace}/pods"
        items: list[Properties] = self._connection.request("GET", path, query={"labelSelector": selector}).body.get(
            "items", []
        )
        return items

    def warnings(self, namespace: str) -> list[Properties]:
        """Return the Warning events of a namespace."""
        path = f"/api/v1/namespaces/{namespace}/events"
        items: list[Properties] = self._connection.request("GET", path, query=WARNINGS).body.get("items", [])
        return items

    def storage_class(self, name: str) -> Properties | None:
        """Return a storage class, or None if there is none of that name."""
        return self.get(Address(_STORAGE_CLASS, "", name))

    def create(self, address: Address, manifest: Properties, manager: str, *, dry_run: bool = False) -> Answer:
        """POST the object. Raises ApiError (409 AlreadyExists if there is one), UnknownKindError."""
        pauses = () if dry_run else _UNKNOWN_KIND_PAUSES
        endpoint = self._new_endpoint(address.kind, pauses)
        return self._retried(
            "POST",
            self._path(endpoint, address, collection=True),
            query=_query(manager, dry_run=dry_run),
            body=manifest,
        )

    def apply(
        self, address: Address, manifest: Properties, manager: str, *, force: bool = False, dry_run: bool = False
    ) -> Answer:
        """Server-side apply: fields that `manager` owned and that are not in the manifest any more are removed.

        Raises ApiError (409 Conflict when another manager owns a field with another value, unless forced).
        """
        if not address.kind.patch:
            force = self._take_over(address, manager, dry_run=dry_run) or force
        query = {**_query(manager, dry_run=dry_run), "force": "true" if force else "false"}
        path = self._path(self._new_endpoint(address.kind, ()), address)
        return self._retried("PATCH", path, query=query, body=manifest, content_type=APPLY)

    def delete(self, address: Address, inputs: Properties) -> None:
        """Ask for deletion; the object may stay until its dependents and finalizers are gone. 404 is fine."""
        policy = annotation(inputs, PROPAGATION) or "foreground"
        body = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy.capitalize()}
        try:
            self._connection.request("DELETE", self.path(address), body=body)
        except ApiError as error:
            if error.status != NOT_FOUND:
                raise

    def _take_over(self, address: Address, manager: str, *, dry_run: bool) -> bool:
        """Make earlier changes by hand, and our own create, part of what `manager` applies.

        A dry run cannot, so the result says whether it must be forced.
        """
        for _ in range(_TAKE_OVER_ATTEMPTS):
            live = self.get(address)
            metadata = live.get("metadata", {}) if live else {}
            entries = metadata.get("managedFields", [])
            if dry_run:
                return any(can_be_taken_over(entry, manager) for entry in entries)
            merged = taken_over(entries, manager, address.kind.api_version)
            if merged is None:
                return False
            patch = [
                {"op": "replace", "path": "/metadata/managedFields", "value": merged},
                # The server refuses the patch if the object has changed since.
                {"op": "replace", "path": "/metadata/resourceVersion", "value": metadata["resourceVersion"]},
            ]
            try:
                self._connection.request(
                    "PATCH", self.path(address), query={"fieldManager": manager}, body=patch, content_type=JSON_PATCH
                )
            except ApiError as error:
                if error.status != CONFLICT:
                    raise
                continue
            return False
        return False

    def _new_endpoint(self, kind: ObjectType, pauses: tuple[float, ...]) -> Endpoint:
        """Return the endpoint of exactly this version, waiting a little for a CRD that was just made."""
        for pause in (0.0, *pauses):
            time.sleep(pause)
            try:
                return self.discovery.find(kind, fresh=pause > 0)
            except UnknownKindError:
                continue
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
