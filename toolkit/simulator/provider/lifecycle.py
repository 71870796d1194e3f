"""Create, read, update and delete of one resource, in Python values (the engine's protocol is servicer.py's)."""

import threading
from collections.abc import Callable

from core.apis.client import FORBIDDEN, NOT_FOUND, ApiError
from core.apis.names import SKIP_AWAIT
from toolkit.engine.prediction.inputs import FIELD_MANAGER, INPUTS, ObjectType, RefusedError, annotation, namespace_of
from toolkit.engine.prediction.typed_form import normalized
from toolkit.engine.prediction.values import Path, Properties, has_unknown
from toolkit.simulator.provider import state
from toolkit.simulator.provider.awaiters import Resource, ResourceWaits, state_on_read
from toolkit.simulator.provider.checks import identifier, manifest, split_identifier, type_of_object
from toolkit.simulator.provider.cluster_objects import Address, Objects, address_of
from toolkit.simulator.provider.connection import Answer, Connection
from toolkit.simulator.provider.discovery import UnknownKindError
from toolkit.simulator.provider.errors import EngineLog, Found, PartialError, explained, not_created, not_deleted
from toolkit.simulator.provider.settings import ProviderSettings
from toolkit.simulator.provider.state import mark_secrets
from toolkit.simulator.provider.wait_annotation import BadWaitError
from toolkit.simulator.provider.wait_loops import NotGoneError, NotReadyError
from toolkit.simulator.provider.writes import CRD, Writes

_SKIPS_DELETION = frozenset(
    {
        *(("", kind) for kind in ("Namespace", "Pod", "ReplicationController")),
        *(("apps", kind) for kind in ("DaemonSet", "Deployment", "StatefulSet")),
        ("batch", "Job"),
    }
)


class Lifecycle:
    """Operations on the objects of one cluster."""

    def __init__(
        self, connection: Connection, settings: ProviderSettings, log: EngineLog, cancelled: threading.Event
    ) -> None:
        self._log = log
        self.objects = Objects(connection)
        self._waits = ResourceWaits(self.objects, log, cancelled)
        self._writes = Writes(self.objects, settings)

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
        try:
            live = self._seen(resource, self._writes.create(address, body, noted.manager))
        except UnknownKindError as error:
            raise RefusedError(
                f'creation of resource "{resource.urn}" with kind {address.kind.api_version}/{address.kind.kind} failed'
                " because the Kubernetes API server reported that the apiVersion for this resource does not exist."
                f" Verify that any required CRDs have been created: {error}"
            ) from error
        except ApiError as error:
            raise RefusedError(not_created(resource.urn, error)) from error
        self._forget_kinds(address.kind, live)
        try:
            live = self._waits.until_ready(resource, address, body, live, None)
        except BadWaitError as error:
            raise RefusedError(not_created(resource.urn, error)) from error
        except NotReadyError as error:
            reason = (
                f'resource "{resource.urn}" was successfully created, but the Kubernetes API server reported that it'
                f" failed to fully initialize or become live: {error}"
            )
            outputs = state.recorded(body, error.live, inputs, noted)
            raise PartialError(identifier(error.live), outputs, None, [reason, *error.reasons]) from error
        return identifier(live), state.recorded(body, live, inputs, noted)

    def preview_create(self, resource: Resource, inputs: Properties) -> Properties:
        """Return the outputs of a dry run on the server, or the inputs where that is not possible."""
        body = manifest(inputs)
        noted = state.marks(resource.urn, body, {})
        kind = type_of_object(body, resource.kind)
        if has_unknown(body) or kind.patch or not self.objects.serves(kind):
            return inputs
        address = address_of(kind, body)
        try:
            live = self._seen(resource, self._writes.create_once(address, body, noted.manager, dry_run=True))
        except ApiError as error:
            # Its namespace comes with the same update, its name is still that of the object it replaces, or this user
            # may not do dry runs: no reason to refuse the preview.
            if error.status in (NOT_FOUND, FORBIDDEN) or error.reason == "AlreadyExists":
                return inputs
            raise RefusedError(not_created(resource.urn, error)) from error
        return state.recorded(body, state.in_preview(live), inputs, noted)

    def update(self, resource: Resource, old: Properties, inputs: Properties, ignored: tuple[Path, ...]) -> Properties:
        """Apply the inputs and wait; return the outputs. Raises RefusedError, PartialError."""
        return self._updated(resource, old, inputs, ignored, dry_run=False)

    def preview_update(
        self, resource: Resource, old: Properties, inputs: Properties, ignored: tuple[Path, ...]
    ) -> Properties:
        """Return the outputs of a dry run on the server, or the inputs where that is not possible."""
        body = normalized(manifest(inputs))
        if has_unknown(body) or not self.objects.serves(type_of_object(body, resource.kind)):
            return inputs
        return self._updated(resource, old, inputs, ignored, dry_run=True)

    def _updated(
        self, resource: Resource, old: Properties, inputs: Properties, ignored: tuple[Path, ...], *, dry_run: bool
    ) -> Properties:
        body = normalized(manifest(inputs))
        noted = state.marks(resource.urn, body, old)
        address = address_of(type_of_object(body, resource.kind), body)
        old_live = state.split(old)[1]
        try:
            before = self._writes.existing(address)
            body, answer = self._writes.update(address, body, before, noted.manager, ignored, dry_run=dry_run)
            live = self._seen(resource, answer)
            if not dry_run:
                live = self._waits.until_ready(resource, address, body, live, before)
        except UnknownKindError as error:
            raise RefusedError(
                f'update of resource "{resource.urn}" failed because the Kubernetes API server reported that the'
                " apiVersion for this resource does not exist. Verify that any required CRDs have been created:"
                f" {error}"
            ) from error
        except (ApiError, BadWaitError, NotReadyError) as error:
            if dry_run and isinstance(error, ApiError) and error.status == FORBIDDEN:
                return inputs
            sent = body

            def record(observed: Properties) -> Properties:
                return state.recorded(sent, observed, inputs, noted)

            raise self._not_updated(resource, old_live, record, error) from error
        finally:
            self._forget_kinds(address.kind, body)
        former = old.get(FIELD_MANAGER)
        if not dry_run and isinstance(former, str) and former != noted.manager:
            self.objects.apply(address, state.identity(live), former)
        return state.recorded(body, live, inputs, noted)

    def _not_updated(
        self,
        resource: Resource,
        old_live: Properties,
        record: Callable[[Properties], Properties],
        error: Exception,
    ) -> Exception:
        address = address_of(type_of_object(old_live, resource.kind), old_live)
        try:
            live = self._writes.existing(address)
        except (ApiError, UnknownKindError) as lost:
            return RefusedError(
                f'update of resource "{resource.urn}" failed: {error}\nunable to get cluster state: {lost}'
            )
        reason = (
            f'the Kubernetes API server reported that "{identifier(live)}" failed to fully initialize or become live:'
            f" {explained(error)}"
        )
        reasons = error.reasons if isinstance(error, NotReadyError) else []
        return PartialError(identifier(live), record(live), None, [reason, *reasons])

    def read(self, resource: Resource, identity: str, old: Properties, inputs: Properties) -> Found | None:
        """Return the object as it is now, None if it is gone. Without inputs it is an import.

        Raises RefusedError, PartialError (a workload that is not ready at this moment).
        """
        body = manifest(inputs)
        kind = type_of_object(body, resource.kind)
        namespace = namespace_of(body) or identity.partition("/")[0] * ("/" in identity)
        address = Address(kind, namespace, identity.split("/")[1] if "/" in identity else identity)
        if resource.kind.patch and not inputs:
            return None
        try:
            live = self.objects.get(address)
        except UnknownKindError:
            return None
        except ApiError as error:
            raise RefusedError(str(error)) from error
        if live is None:
            return None
        noted = state.marks(resource.urn, body or live, old)
        if not inputs:
            inputs_now = state.inputs_from_cluster(live)
            return Found(identity, state.recorded(inputs_now, live, {}, noted), mark_secrets(inputs_now, {}))
        unready, live = state_on_read(self._waits.waits, address, body, live)
        inputs_now = state.refreshed_inputs(inputs, live)
        outputs = state.recorded(inputs_now, live, inputs, noted)
        current = mark_secrets(inputs_now, inputs)
        if unready is not None:
            raise PartialError(identity, outputs, current, [str(unready), *unready.reasons])
        return Found(identity, outputs, current)

    def delete(self, resource: Resource, identity: str, old: Properties) -> None:
        """Remove the object and wait until it is gone; of a patch, only what it had set. Raises RefusedError."""
        inputs, live = state.split(old)
        kind = type_of_object(live, resource.kind)
        address = Address(kind, namespace_of(live), identity.split("/")[1] if "/" in identity else identity)
        noted = state.marks(resource.urn, inputs, old)
        try:
            if kind.patch:
                self.objects.apply(address, state.identity(live), noted.manager)
                return
            self.objects.delete(address, inputs)
            if annotation(inputs, SKIP_AWAIT) == "true" and (kind.group, kind.kind) in _SKIPS_DELETION:
                return
            self._waits.until_gone(resource, address, inputs)
        except UnknownKindError:
            return
        except NotGoneError as error:
            self._log.warn_again(
                resource.urn, f"finalizers might be preventing deletion ({', '.join(error.finalizers)})"
            )
            marked = {key: value for key, value in old.items() if key.startswith("__") and key != INPUTS}
            outputs = state.recorded({**live, **marked}, error.live, old, noted)
            raise PartialError(identifier(error.live), outputs, None, [str(error)]) from error
        except ApiError as error:
            raise RefusedError(not_deleted(kind, error)) from error
        finally:
            self._forget_kinds(kind, live)

    def _seen(self, resource: Resource, answer: Answer) -> Properties:
        for warning in answer.warnings:
            self._log.warn(resource.urn, warning)
        return answer.body

    def _forget_kinds(self, kind: ObjectType, live: Properties) -> None:
        if (kind.group, kind.kind) == CRD:
            self.objects.discovery.forget(str(live.get("spec", {}).get("group", "")))
