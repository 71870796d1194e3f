"""From recorded registrations to the manifests that an update would apply."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from core import project
from core.apis import kinds, names
from core.apis.names import MANAGED_BY
from core.errors import UserError
from core.pulumi_values import REDACTED
from stacks import environment
from stacks.layers import own_objects
from stacks.loading import settings
from stacks.settings import transforms
from stacks.settings.layers import TenantsLayer
from stacks.settings.origins import wrong
from toolkit.render.recorder import Registration, record

ROOT = project.FOLDER
INDEX = ".rendered"
"""File that lists what a render wrote, so that the next one can remove it."""
PATCH = "Patch"
"""Suffix of the types that set fields of an object with another owner."""
_WAITS = (kinds.CLUSTER_SERVICE_VERSION.kind, kinds.IMAGE_STREAM.kind, kinds.MACHINE_CONFIG_POOL.kind)
"""Kinds that the program waits on by a patch, which is not a manifest."""


class FolderError(UserError):
    """The folder for the manifests cannot be used; the message has the reason and the remedy."""


def registrations(stack: str, root: Path = ROOT, *, first_preview: bool = False) -> tuple[Registration, ...]:
    """Return what the program registers for `stack`; its secrets are not needed and not read.

    In a `first_preview` the cluster has nothing yet, and what the program reads from it is unknown. Raises
    SettingsError for extra fields of an object that the stack does not declare.
    """
    platform = settings.load(stack, root)
    recorded = record(
        lambda: environment.build(platform, environment.placeholder_accounts(platform, REDACTED), root),
        stack=stack,
        project=settings.PROJECT,
        first_preview=first_preview,
    )
    names = {transforms.name_of(item.type, item.inputs) for item in recorded}
    if problems := [f"  {problem}" for problem in transforms.unused(platform.extra, names)]:
        raise wrong(settings.file(stack, root).name, problems)
    return recorded


def platform_registrations(stack: str, root: Path = ROOT) -> tuple[Registration, ...]:
    """Return the registrations of the platform that `stack` depends on, where that is a stack of its own."""
    layer = settings.load(stack, root)
    return registrations_of_platform(layer, root) if isinstance(layer, TenantsLayer) else ()


def registrations_of_platform(tenants: TenantsLayer, root: Path = ROOT) -> tuple[Registration, ...]:
    """Return the registrations of the platform of tenants; raise SettingsError for objects that both declare."""
    recorded = registrations(tenants.platform, root)
    own = own_objects.read(tenants.objects, root, tenants.places)
    if problems := [*own_objects.of_platform(own, ((item.type, item.inputs) for item in recorded))]:
        raise wrong("objects", [f"  {problem}" for problem in problems])
    return recorded


def manifests(recorded: Iterable[Registration]) -> list[dict[str, Any]]:
    """Return the manifests, without Secrets and without what the program only waits on, sorted by kind and name.

    Several patches of one object, each with labels of its own, are one manifest.
    """
    by_name: dict[str, dict[str, Any]] = {}
    for manifest in (_manifest(item) for item in recorded if item.is_kubernetes):
        if manifest:
            name = file_name(manifest)
            by_name[name] = merged(by_name[name], manifest) if name in by_name else manifest
    return [by_name[name] for name in sorted(by_name)]


def merged(manifest: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return one manifest with the fields of both; where both have a value, the other's."""
    both = {
        key: merged(manifest[key], other[key])
        for key in manifest.keys() & other.keys()
        if isinstance(manifest[key], Mapping) and isinstance(other[key], Mapping)
    }
    return {**manifest, **other, **both}


def write(recorded: Iterable[Registration], directory: Path) -> list[Path]:
    """Write the manifests below `directory`, one file an object, and return the files' paths.

    Files of an earlier call are removed first; a folder with other files is refused with FolderError.
    """
    by_name = {file_name(manifest): manifest for manifest in manifests(recorded)}
    return write_files({name: yaml.safe_dump(manifest, width=120) for name, manifest in by_name.items()}, directory)


def write_files(rendered: Mapping[str, str], directory: Path) -> list[Path]:
    """Write texts by the names of their files, as `write` does."""
    index = directory / INDEX
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not index.exists() and any(directory.iterdir()):
            raise FolderError(f"{directory} has files that no render wrote; name a new or an empty folder")
        for name in index.read_text().splitlines() if index.exists() else ():
            (directory / name).unlink(missing_ok=True)
        index.write_text("\n".join(rendered) + "\n")
        for name, text in rendered.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(text)
    except OSError as error:
        raise FolderError(f"cannot write to {directory}: {error.strerror}; name another folder") from error
    return [directory / name for name in rendered]


def _manifest(item: Registration) -> dict[str, Any] | None:
    kind = kind_of(item)
    if kind == kinds.SECRET.kind or (item.type.endswith(PATCH) and kind in _WAITS):
        return None
    return manifest_of(item)


def kind_of(item: Registration) -> str:
    """Return the kind of a registered object; a patch has that of the object that it changes."""
    return item.type.rsplit(":", 1)[-1].removesuffix(PATCH)


def manifest_of(item: Registration) -> dict[str, Any]:
    """Return what the provider would apply for a registered object."""
    api_version = item.type.removeprefix("kubernetes:").rsplit(":", 1)[0]
    fields = {key: value for key, value in item.inputs.items() if key not in ("apiVersion", "kind", "status")}
    return {"apiVersion": api_version.removeprefix("core/"), "kind": kind_of(item), **fields}


def managed_by(manager: str | None, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest without Pulumi's annotations, whose label names another manager, or none."""
    metadata = {**manifest["metadata"]}
    labels, annotations = metadata.pop("labels", None) or {}, metadata.pop("annotations", None) or {}
    labels = {key: text for key, text in labels.items() if key != MANAGED_BY} | (
        {MANAGED_BY: manager} if manager and MANAGED_BY in labels else {}
    )
    annotations = {key: text for key, text in annotations.items() if not key.startswith(names.PULUMI)}
    metadata |= ({"labels": labels} if labels else {}) | ({"annotations": annotations} if annotations else {})
    return {**manifest, "metadata": metadata}


def file_name(manifest: Mapping[str, Any]) -> str:
    """Return the name of an object's file."""
    metadata = manifest["metadata"]
    parts = (manifest["kind"].lower(), metadata.get("namespace"), metadata["name"])
    return re.sub(r"[^a-z0-9.-]+", "-", ".".join(part for part in parts if part).lower()) + ".yaml"
