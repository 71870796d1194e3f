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
from simulator.plugins.provider.readiness import Rule, awaited
from simulator.plugins.provider.settings import ProviderSettings
from simulator.plugins.provider.shapes import Path
from simulator.plugins.provider.values import Properties, has_unknown, mark_secrets
from simulator.plugins.provider.wait_for import SKIP_AWAIT, timeout, wait_rule
from simulator.plugins.provider.waiting import NotReadyError, Patience, until_gone, until_ready

_PATCH_FORCE = "pulumi.com/patchForce"
_WAIT_FOR_TIMEOUT = 600.0
_DELETE_TIMEOUT = 600.0
_CRD = ("apiextensions.k8s.io", "CustomResourceDefinition")


class RefusedError(Exception):
    """An operation failed; the text names the object and carries the server's message."""


class PartialError(Exception):
    """The object exists and is recorded, but is not ready; the next update tries again."""

    def __init__(self, identifier: str, outputs: Properties, inputs: Properties | None, reasons: list[str]) -> None:
        super().__init__(reasons[0])
        self.identifier = identifier
        self.outputs = outputs
        self.inputs = inputs
        self.reasons = reasons


@dataclass(frozen=True)
class Read:
    """What a refresh or import finds."""

    identifier: str
    outputs: Properties
    inputs: Properties


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

    def create(self, urn: str, kind: ObjectType, inputs: Properties, asked: float) -> tuple[str, Properties]:
        """Make the object and wait for it: its id and outputs. Raises RefusedError, PartialError."""
        body, manager = manifest(inputs), state.field_manager(urn, inputs, {})
        kind = type_of_object(body, kind)
        address = address_of(kind, body)
        live = self._seen(urn, self._make(address, body, manager, force=self._force(inputs)))
        return self._settled(urn, address, inputs, live, manager, asked, str(body.get("apiVersion", "")))

    def preview_create(self, urn: str, kind: ObjectType, inputs: Properties) -> Properties:
        """Return the outputs of a dry run on the server; the inputs where that is not possible."""
        body, manager = manifest(inputs), state.field_manager(urn, inputs, {})
        kind = type_of_object(body, kind)
        if has_unknown(body) or kind.patch:
            return inputs
        address = address_of(kind, body)
        try:
            live = self._seen(urn, self.objects.create(address, body, manager, dry_run=True))
        except UnknownKindError:
            return inputs
        except ApiError as error:
            # Its namespace comes with the same update, its name is still that of the object it replaces, or this user
            # may not do dry runs: no reason to refuse the preview.
            if error.status in (NOT_FOUND, FORBIDDEN, CONFLICT):
                return inputs
            raise RefusedError(f"creating {address} would fail: {error}") from error
        return state.recorded(
            inputs, state.in_preview(live), manager=manager, initial_api_version=str(body.get("apiVersion", ""))
        )

    def update(
        self, urn: str, kind: ObjectType, old: Properties, inputs: Properties, ignored: tuple[Path, ...], asked: float
    ) -> Properties:
        """Apply the inputs and wait: the outputs. Raises RefusedError, PartialError."""
        body, manager = manifest(inputs), state.field_manager(urn, inputs, old)
        kind = type_of_object(body, kind)
        address = address_of(kind, body)
        body = self._with_ignored(address, body, ignored)
        live = self._seen(urn, self._apply(address, body, manager, force=self._force(inputs)))
        before = old.get(state.FIELD_MANAGER)
        if isinstance(before, str) and before != manager:
            self.objects.apply(address, state.identity(live), before)
        version = state.initial_api_version(old, body)
        return self._settled(urn, address, inputs, live, manager, asked, version)[1]

    def preview_update(self, urn: str, kind: ObjectType, old: Properties, inputs: Properties) -> Properties:
        """Return the outputs of a dry run on the server; the inputs where that is not possible."""
        body, manager = manifest(inputs), state.field_manager(urn, inputs, old)
        kind = type_of_object(body, kind)
        if has_unknown(body):
            return inputs
        address = address_of(kind, body)
        try:
            live = self._seen(urn, self.objects.apply(address, body, manager, force=self._force(inputs), dry_run=True))
        except UnknownKindError:
            return inputs
        except ApiError as error:
            if error.status in (NOT_FOUND, FORBIDDEN):
                return inputs
            raise RefusedError(f"updating {address} would fail: {_explained(error)}") from error
        version = state.initial_api_version(old, body)
        return state.recorded(inputs, live, manager=manager, initial_api_version=version)

    def read(self, urn: str, kind: ObjectType, identity: str, old: Properties, inputs: Properties) -> Read | None:
        """Return the object as it is now, None if it is gone. Without inputs it is an import. Raises RefusedError, PartialError."""
        kind = type_of_object(manifest(inputs), kind)
        address = Address(kind, *split_identifier(identity))
        try:
            live = self.objects.get(address)
        except UnknownKindError:
            return None
        except ApiError as error:
            raise RefusedError(f"reading {address} failed: {error}") from error
        if live is None:
            return None
        manager = state.field_manager(urn, inputs, old)
        imported = not inputs
        found = state.inputs_from_cluster(live) if imported else state.refreshed_inputs(inputs, live, kind)
        kept = state.identity(live) if imported else mark_secrets(found, inputs)
        version = state.initial_api_version(old, inputs or live)
        outputs = state.recorded(kept, live, manager=manager, initial_api_version=version)
        answer = Read(identifier(live), outputs, mark_secrets(found, inputs))
        how = awaited(kind)
        if (
            how
            and how.on_read
            and not imported
            and annotation(inputs, SKIP_AWAIT) != "true"
            and wait_rule(inputs) is None
        ):
            verdict = how.rule(live)
            if verdict.state != "ready":
                reason = f"{address} is not ready: {verdict.message}"
                raise PartialError(answer.identifier, answer.outputs, answer.inputs, [reason])
        return answer

    def delete(self, urn: str, kind: ObjectType, identity: str, old: Properties, asked: float) -> None:
        """Remove the object and wait until it is gone; of a patch, only what it had set. Raises RefusedError."""
        inputs, live = state.split(old)
        kind = type_of_object(live, kind)
        address = Address(kind, *split_identifier(identity))
        try:
            if kind.patch:
                self._relinquish(address, state.field_manager(urn, inputs, old), live)
                return
            self.objects.delete(address, inputs)
            if annotation(inputs, SKIP_AWAIT) != "true":
                patience = Patience(timeout(inputs, asked, _DELETE_TIMEOUT), self._cancelled)
                uid = str(live.get("metadata", {}).get("uid", ""))
                until_gone(self.objects, address, uid, patience, lambda text: self._log.status(urn, text))
        except UnknownKindError:
            return
        except ApiError as error:
            raise RefusedError(f"deleting {address} failed: {error}") from error
        finally:
            self._forget_kinds(kind, live)

    def live(self, kind: ObjectType, identity: str) -> Properties | None:
        """Return the object as it is now, None if it or its kind is gone."""
        try:
            return self.objects.get(Address(kind, *split_identifier(identity)))
        except UnknownKindError:
            return None

    def _make(self, address: Address, body: Properties, manager: str, *, force: bool) -> Answer:
        if address.kind.patch:
            return self._apply(address, body, manager, force=force)
        try:
            return self.objects.create(address, body, manager)
        except UnknownKindError as error:
            raise RefusedError(f"creating {address} failed: {error}") from error
        except ApiError as error:
            if error.status == CONFLICT and error.reason == "AlreadyExists":
                if self._settings.upsert_existing_objects:
                    return self._apply(address, body, manager, force=force)
                raise RefusedError(
                    f"creating {address} failed: {error}. To manage the existing object, import it "
                    f"(pulumi import, or the resource option import_), or set the provider's upsertExistingObjects."
                ) from error
            raise RefusedError(f"creating {address} failed: {error}") from error

    def _apply(self, address: Address, body: Properties, manager: str, *, force: bool) -> Answer:
        try:
            if address.kind.patch and self.objects.get(address) is None:
                raise RefusedError(f"{address} does not exist, so there is nothing to patch")
            return self.objects.apply(address, body, manager, force=force)
        except (UnknownKindError, ApiError) as error:
            raise RefusedError(f"updating {address} failed: {_explained(error)}") from error

    def _settled(
        self, urn: str, address: Address, inputs: Properties, live: Properties, manager: str, asked: float, version: str
    ) -> tuple[str, Properties]:
        """Wait for the object as its kind and annotations ask for, and record it."""
        reasons: list[str] = []
        address = Address(address.kind, live["metadata"].get("namespace", ""), address.name)
        rule, default = self._rule(address.kind, inputs)
        if rule is not None:
            patience = Patience(timeout(inputs, asked, default), self._cancelled)
            try:
                live = until_ready(
                    self.objects, address, live, rule, patience, lambda text: self._log.status(urn, text)
                )
                self._log.status(urn, "")
            except NotReadyError as error:
                live, reasons = error.live, error.reasons
        self._forget_kinds(address.kind, live)
        outputs = state.recorded(inputs, live, manager=manager, initial_api_version=version)
        if reasons:
            raise PartialError(identifier(live), outputs, None, reasons)
        return identifier(live), outputs

    def _rule(self, kind: ObjectType, inputs: Properties) -> tuple[Rule | None, float]:
        if annotation(inputs, SKIP_AWAIT) == "true":
            return None, 0
        rule = wait_rule(inputs)
        if rule is not None:
            return rule, _WAIT_FOR_TIMEOUT
        how = awaited(kind)
        return (how.rule, how.timeout) if how else (None, 0)

    def _with_ignored(self, address: Address, body: Properties, ignored: tuple[Path, ...]) -> Properties:
        """Return the body with the live values of ignored fields, so that applying it neither changes nor disputes them."""
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

    def _force(self, inputs: Properties) -> bool:
        return self._settings.patch_force or annotation(inputs, _PATCH_FORCE) == "true"

    def _seen(self, urn: str, answer: Answer) -> Properties:
        for warning in answer.warnings:
            self._log.warn(urn, warning)
        return answer.body

    def _forget_kinds(self, kind: ObjectType, live: Properties) -> None:
        if (kind.group, kind.kind) == _CRD:
            self.objects.discovery.forget(str(live.get("spec", {}).get("group", "")))


def _explained(error: Exception) -> str:
    if isinstance(error, ApiError) and error.status == CONFLICT and "conflict" in str(error):
        return (
            f"{error}. Another field manager owns these fields with other values: leave them out of the program, or set "
            f'the annotation {_PATCH_FORCE}: "true" to take them over.'
        )
    return str(error)
