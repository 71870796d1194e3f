"""Create, read, update and delete of one resource, in Python values (the engine's protocol is servicer.py's)."""

import threading
from dataclasses import dataclass

from simulator.plugins.provider import state
from simulator.plugins.provider.connection import Answer, ApiError, Connection
from simulator.plugins.provider.discovery import UnknownKindError
from simulator.plugins.provider.engine_log import EngineLog
from simulator.plugins.provider.inputs import (
    ObjectType,
    annotation,
    identifier,
    manifest,
    split_identifier,
    type_of_object,
)
from simulator.plugins.provider.objects import CONFLICT, FORBIDDEN, NOT_FOUND, Address, Objects, address_of
from simulator.plugins.provider.results import Found, PartialError, RefusedError
from simulator.plugins.provider.settings import ProviderSettings
from simulator.plugins.provider.shapes import Path
from simulator.plugins.provider.values import Properties, has_unknown, mark_secrets
from simulator.plugins.provider.wait_for import SKIP_AWAIT, rule_for, rule_on_read, timeout
from simulator.plugins.provider.waiting import NotReadyError, Patience, until_gone, until_ready

_PATCH_FORCE = "pulumi.com/patchForce"
_DELETE_TIMEOUT = 600.0
_CRD = ("apiextensions.k8s.io", "CustomResourceDefinition")


@dataclass(frozen=True)
class Resource:
    """Which resource an operation is about, and the seconds that its customTimeouts give (0: none)."""

    urn: str
    kind: ObjectType
    timeout: float = 0


class Lifecycle:
    """Operations on the objects of one cluster."""

    def __init__(
        self, connection: Connection, settings: ProviderSettings, log: EngineLog, cancelled: threading.Event
    ) -> None:
        self._settings = settings
        self._log = log
        self._cancelled = cancelled
        self.objects = Objects(connection)

    def default_namespace(self, kind: ObjectType, configured: str) -> str:
        """Return the configured namespace for kinds that have namespaces (a kind not served yet gets none here)."""
        if not configured:
            return ""
        try:
            return configured if self.objects.discovery.find_in_any_version(kind).namespaced else ""
        except UnknownKindError:
            return ""

    def live(self, kind: ObjectType, identity: str) -> Properties | None:
        """Return the object as it is now, None if it or its kind is gone."""
        try:
            return self.objects.get(Address(kind, *split_identifier(identity)))
        except UnknownKindError:
            return None

    def create(self, resource: Resource, inputs: Properties) -> tuple[str, Properties]:
        """Make the object and wait for it; return its id and outputs. Raises RefusedError, PartialError."""
        body = manifest(inputs)
        noted = state.marks(resource.urn, body, {})
        address = address_of(type_of_object(body, resource.kind), body)
        live = self._seen(resource, self._make(address, body, noted.manager))
        return self._settled(resource, address, inputs, live, noted)

    def preview_create(self, resource: Resource, inputs: Properties) -> Properties:
        """Return the outputs of a dry run on the server, or the inputs where that is not possible."""
        body = manifest(inputs)
        noted = state.marks(resource.urn, body, {})
        kind = type_of_object(body, resource.kind)
        if has_unknown(body) or kind.patch:
            return inputs
        address = address_of(kind, body)
        try:
            live = self._seen(resource, self.objects.create(address, body, noted.manager, dry_run=True))
        except UnknownKindError:
            return inputs
        except ApiError as error:
            # Its namespace comes with the same update, its name is still that of the object it replaces, or this user
            # may not do dry runs: no reason to refuse the preview.
            if error.status in (NOT_FOUND, FORBIDDEN, CONFLICT):
                return inputs
            raise RefusedError(f"creating {address} would fail: {error}") from error
        return state.recorded(inputs, state.in_preview(live), noted)

    def update(self, resource: Resource, old: Properties, inputs: Properties, ignored: tuple[Path, ...]) -> Properties:
        """Apply the inputs and wait; return the outputs. Raises RefusedError, PartialError."""
        body = manifest(inputs)
        noted = state.marks(resource.urn, body, old)
        address = address_of(type_of_object(body, resource.kind), body)
        body = self._with_ignored(address, body, ignored)
        live = self._seen(resource, self._apply(address, body, noted.manager))
        before = old.get(state.FIELD_MANAGER)
        if isinstance(before, str) and before != noted.manager:
            self.objects.apply(address, state.identity(live), before)
        return self._settled(resource, address, inputs, live, noted)[1]

    def preview_update(self, resource: Resource, old: Properties, inputs: Properties) -> Properties:
        """Return the outputs of a dry run on the server, or the inputs where that is not possible."""
        body = manifest(inputs)
        noted = state.marks(resource.urn, body, old)
        if has_unknown(body):
            return inputs
        address = address_of(type_of_object(body, resource.kind), body)
        try:
            answer = self.objects.apply(address, body, noted.manager, force=self._force(body), dry_run=True)
        except UnknownKindError:
            return inputs
        except ApiError as error:
            if error.status in (NOT_FOUND, FORBIDDEN):
                return inputs
            raise RefusedError(f"updating {address} would fail: {_explained(error)}") from error
        return state.recorded(inputs, self._seen(resource, answer), noted)

    def read(self, resource: Resource, identity: str, old: Properties, inputs: Properties) -> Found | None:
        """Return the object as it is now, None if it is gone. Without inputs it is an import.

        Raises RefusedError, PartialError (a workload that is not ready at this moment).
        """
        kind = type_of_object(manifest(inputs), resource.kind)
        address = Address(kind, *split_identifier(identity))
        try:
            live = self.live(kind, identity)
        except ApiError as error:
            raise RefusedError(f"reading {address} failed: {error}") from error
        if live is None:
            return None
        noted = state.marks(resource.urn, manifest(inputs) or live, old)
        if inputs:
            current = mark_secrets(state.refreshed_inputs(inputs, live, kind), inputs)
            outputs = state.recorded(current, live, noted)
            rule = rule_on_read(kind, inputs)
        else:
            current = mark_secrets(state.inputs_from_cluster(live), {})
            outputs = state.recorded(state.identity(live), live, noted)
            # An interrupted create: what it was to wait for is on the object, and the next update waits for it.
            rule = rule_for(kind, live)[0]
        verdict = rule(live) if rule else None
        if verdict and verdict.state != "ready":
            raise PartialError(identifier(live), outputs, current, [f"{address} is not ready: {verdict.message}"])
        return Found(identifier(live), outputs, current)

    def delete(self, resource: Resource, identity: str, old: Properties) -> None:
        """Remove the object and wait until it is gone; of a patch, only what it had set. Raises RefusedError."""
        inputs, live = state.split(old)
        kind = type_of_object(live, resource.kind)
        address = Address(kind, *split_identifier(identity))
        try:
            if kind.patch:
                self._relinquish(address, state.marks(resource.urn, inputs, old).manager, live)
                return
            self.objects.delete(address, inputs)
            if annotation(inputs, SKIP_AWAIT) != "true":
                uid = str(live.get("metadata", {}).get("uid", ""))
                until_gone(self.objects, address, uid, self._patience(resource, inputs, _DELETE_TIMEOUT))
        except UnknownKindError:
            return
        except ApiError as error:
            raise RefusedError(f"deleting {address} failed: {error}") from error
        finally:
            self._forget_kinds(kind, live)

    def _make(self, address: Address, body: Properties, manager: str) -> Answer:
        if address.kind.patch:
            return self._apply(address, body, manager)
        try:
            return self.objects.create(address, body, manager)
        except UnknownKindError as error:
            raise RefusedError(f"creating {address} failed: {error}") from error
        except ApiError as error:
            if error.status != CONFLICT or error.reason != "AlreadyExists":
                raise RefusedError(f"creating {address} failed: {error}") from error
            if not self._settings.upsert_existing_objects:
                raise RefusedError(
                    f"creating {address} failed: {error}. To manage the existing object, import it "
                    f"(pulumi import, or the resource option import_), or set the provider's upsertExistingObjects."
                ) from error
        return self._apply(address, body, manager)

    def _apply(self, address: Address, body: Properties, manager: str) -> Answer:
        try:
            if address.kind.patch and self.objects.get(address) is None:
                raise RefusedError(f"{address} does not exist, so there is nothing to patch")
            return self.objects.apply(address, body, manager, force=self._force(body))
        except (UnknownKindError, ApiError) as error:
            raise RefusedError(f"updating {address} failed: {_explained(error)}") from error

    def _settled(
        self, resource: Resource, address: Address, inputs: Properties, live: Properties, noted: state.Marks
    ) -> tuple[str, Properties]:
        """Wait for the object as its kind and annotations ask for, and record it."""
        reasons: list[str] = []
        address = Address(address.kind, live["metadata"].get("namespace", ""), address.name)
        rule, default = rule_for(address.kind, inputs)
        if rule is not None:
            try:
                live = until_ready(self.objects, address, live, rule, self._patience(resource, inputs, default))
                self._log.status(resource.urn, "")
            except NotReadyError as error:
                live, reasons = error.live, error.reasons
        self._forget_kinds(address.kind, live)
        outputs = state.recorded(inputs, live, noted)
        if reasons:
            raise PartialError(identifier(live), outputs, None, reasons)
        return identifier(live), outputs

    def _patience(self, resource: Resource, inputs: Properties, default: float) -> Patience:
        seconds = timeout(inputs, resource.timeout, default)
        return Patience(
            seconds,
            self._cancelled,
            say=lambda text: self._log.status(resource.urn, text),
            warn=lambda text: self._log.warn(resource.urn, text),
        )

    def _with_ignored(self, address: Address, body: Properties, ignored: tuple[Path, ...]) -> Properties:
        """Return the body with the live values of ignored fields: applying it neither changes nor disputes them."""
        live = self.objects.get(address) if ignored else None
        return state.with_values_of(body, live, ignored) if live else body

    def _relinquish(self, address: Address, manager: str, live: Properties) -> None:
        if self.objects.get(address) is None:
            return
        try:
            self.objects.apply(address, state.identity(live), manager)
        except ApiError as error:
            raise RefusedError(
                f"giving up the patched fields of {address} failed: {error}. If one of them is required, hand it to "
                "another manager first, or set the resource option retain_on_delete."
            ) from error

    def _force(self, body: Properties) -> bool:
        return self._settings.patch_force or annotation(body, _PATCH_FORCE) == "true"

    def _seen(self, resource: Resource, answer: Answer) -> Properties:
        for warning in answer.warnings:
            self._log.warn(resource.urn, warning)
        return answer.body

    def _forget_kinds(self, kind: ObjectType, live: Properties) -> None:
        if (kind.group, kind.kind) == _CRD:
            self.objects.discovery.forget(str(live.get("spec", {}).get("group", "")))


def _explained(error: Exception) -> str:
    if isinstance(error, ApiError) and error.status == CONFLICT and "conflict" in str(error):
        return (
            f"{error}. Another field manager owns these fields with other values: leave them out of the program, or "
            f'set the annotation {_PATCH_FORCE}: "true" to take them over.'
        )
    return str(error)
