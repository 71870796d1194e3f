"""Writing objects: POST or server-side apply, forced where the settings or the object say so."""

import time

from core.apis.client import NOT_FOUND, ApiError
from toolkit.engine.prediction.inputs import annotation
from toolkit.engine.prediction.values import Path, Properties
from toolkit.simulator.provider import state
from toolkit.simulator.provider.checks import PATCH_FORCE
from toolkit.simulator.provider.cluster_objects import Address, Objects, forced_in_preview
from toolkit.simulator.provider.connection import Answer
from toolkit.simulator.provider.discovery import UnknownKindError
from toolkit.simulator.provider.settings import ProviderSettings

CRD = ("apiextensions.k8s.io", "CustomResourceDefinition")
# Seconds between attempts to create an object whose kind or namespace is not there yet.
_PAUSES = (0.2, 0.5, 1.0, 2.0, 4.0)


class Writes:
    """Creates and updates objects of one cluster, as the provider's settings say."""

    def __init__(self, objects: Objects, settings: ProviderSettings) -> None:
        self._objects = objects
        self._settings = settings

    def create(self, address: Address, body: Properties, manager: str) -> Answer:
        """Create an object, again while its kind or its namespace is missing. Raises ApiError, UnknownKindError."""
        for pause in _PAUSES:
            try:
                return self.create_once(address, body, manager)
            except UnknownKindError:
                pass
            except ApiError as error:
                if not error.missing:
                    raise
            time.sleep(pause)
        return self.create_once(address, body, manager)

    def create_once(self, address: Address, body: Properties, manager: str, *, dry_run: bool = False) -> Answer:
        """Create an object, or apply it where it is a patch or may exist already."""
        if address.kind.patch or self._settings.upsert_existing_objects:
            force = self._force(body) or dry_run
            return self._objects.apply(address, body, manager, force=force, dry_run=dry_run)
        return self._objects.create(address, body, dry_run=dry_run)

    def update(
        self,
        address: Address,
        body: Properties,
        before: Properties,
        manager: str,
        ignored: tuple[Path, ...],
        *,
        dry_run: bool,
    ) -> tuple[Properties, Answer]:
        """Send the update; return what was sent, and the answer."""
        if (address.kind.group, address.kind.kind) == CRD:
            version = before["metadata"]["resourceVersion"]
            body = {**body, "metadata": {**body["metadata"], "resourceVersion": version}}
            return body, self._objects.put(address, body, manager, dry_run=dry_run)
        if not dry_run and not address.kind.patch:
            before = self._objects.transfer(address, before, manager)
        body = state.with_ignored(body, before, ignored, manager) if ignored else body
        force = self._force(body) or not before["metadata"].get("managedFields")
        force = force or (dry_run and forced_in_preview(before))
        return body, self._objects.apply(address, body, manager, force=force, dry_run=dry_run)

    def existing(self, address: Address) -> Properties:
        """Return the live object; raise ApiError as the server would where there is none."""
        live = self._objects.get(address)
        if live is None:
            plural = self._objects.discovery.find_in_any_version(address.kind)
            group = f".{plural.group}" if plural.group else ""
            raise ApiError(NOT_FOUND, "NotFound", f'{plural.plural}{group} "{address.name}" not found')
        return live

    def _force(self, body: Properties) -> bool:
        return self._settings.patch_force or annotation(body, PATCH_FORCE) == "true"
