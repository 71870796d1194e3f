"""Objects of a stack's own, from YAML files in its project's folder: read when an environment is built."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulumi
import yaml

from components.tenants.own_objects import Manifest, OwnObjects, OwnObjectsArgs
from components.tenants.tenant import Tenant
from core.apis import kinds
from core.apis.kinds import KINDS
from core.yaml import places
from core.yaml import text as yaml_text
from stacks.layers.operators import OfTenant
from stacks.settings.origins import Places, SettingsError, wrong

SUFFIXES = (".yaml", ".yml")
Identity = tuple[str, str, str, str]
"""Group, kind, namespace and name: an object has one, whatever the version of its manifest."""
_OF_THE_SERVER = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "uid")


@dataclass(frozen=True)
class OwnObject:
    """One object, and where its manifest is: FILE:LINE:COLUMN."""

    manifest: Manifest
    place: str

    @property
    def identity(self) -> Identity:
        """What it is on the cluster."""
        metadata = self.manifest.fields["metadata"]
        return self.manifest.kind.group, self.manifest.kind.kind, self.manifest.namespace, str(metadata["name"])

    @property
    def shown(self) -> str:
        """What findings of policies call it: `Kind namespace/name`."""
        _, kind, namespace, name = self.identity
        return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


def files(folders: Sequence[str], root: Path) -> list[Path]:
    """Return the files that have the objects, in a fixed order."""
    paths = [path for folder in folders for path in _files(root / folder)]
    return list(dict.fromkeys(paths))


def read(folders: Sequence[str], root: Path, places: Places | None = None) -> tuple[OwnObject, ...]:
    """Return the objects of all folders below `root`; `places` are those of the settings that name the folders.

    Raises SettingsError, which lists all that is wrong, each with file, line and column.
    """
    shown = (places or Places()).shown
    problems = [
        f"{shown(('objects', index))}{problem}"
        for index, folder in enumerate(folders)
        for problem in _missing(folder, root)
    ]
    documents: list[tuple[str, Any, Any]] = []
    for path in files(folders, root):
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
        try:
            documents += [(name, node, content) for node, content in yaml_text.documents(path.read_text("utf-8"))]
        except (OSError, UnicodeDecodeError, RecursionError) as error:
            problems.append(f"{name}: cannot be read ({error}); correct it")
        except yaml.YAMLError as error:
            problems.append(f"{name}:{error}")
    scopes = {(kind.group, kind.kind): kind.scope == "Namespaced" for kind in KINDS} | _defined(documents)
    by_identity: dict[Identity, OwnObject] = {}
    for name, node, content in documents:
        if faults := [*_problems(content, scopes)]:
            problems += [f"{_place(name, node, path)}: {problem}" for path, problem in faults]
            continue
        own_object = OwnObject(Manifest(fields=content), _place(name, node, ()))
        if own_object.identity in by_identity:
            other = by_identity[own_object.identity]
            problems.append(f"{own_object.place}: {own_object.manifest.name} is in {other.place}, too; remove one")
        by_identity[own_object.identity] = own_object
    if problems:
        raise wrong("objects", [f"  {problem}" for problem in problems])
    return tuple(by_identity.values())


def refuse_declared(own: Sequence[OwnObject]) -> None:
    """Let the program end where it declares one of these itself. Call it before anything is declared."""
    if own:
        pulumi.runtime.register_resource_transform(transform(own))


def transform(own: Sequence[OwnObject]) -> Any:
    """Return a transform that changes nothing, and raises SettingsError for an object that is among these as well."""
    by_identity = {own_object.identity: own_object for own_object in own}

    def refuse(args: pulumi.ResourceTransformArgs) -> None:
        own_object = by_identity.get(_identity(args.type_, args.props))
        if own_object is not None and args.name != own_object.manifest.name:
            raise SettingsError(
                f"{own_object.place}: {own_object.manifest.name} is an object that the stack declares itself; remove "
                f"the manifest, and change it by its settings or by `extra: {{{own_object.manifest.name}: ...}}`"
            )

    return refuse


def of_platform(own: Sequence[OwnObject], declared: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[str]:
    """Yield a sentence for each object of tenants that their platform declares: `declared` are its types and inputs."""
    by_identity = {own_object.identity: own_object for own_object in own}
    for token, inputs in declared:
        if own_object := by_identity.get(_identity(token, inputs)):
            yield (
                f"{own_object.place}: {own_object.manifest.name} is an object that the stack of the platform declares; "
                "remove the manifest, and change the object there"
            )


def build(
    own: Sequence[OwnObject],
    ready: Sequence[pulumi.Output[Any]],
    teams: Mapping[str, Tenant],
    opts: pulumi.ResourceOptions,
    *,
    protect: bool,
) -> tuple[list[pulumi.Output[Any]], list[OfTenant]]:
    """Declare them after the platform; return what all jobs wait for, and what those of a tenant do."""
    if not own:
        return [], []
    args = OwnObjectsArgs(manifests=tuple(own_object.manifest for own_object in own), protect=protect)
    declared = OwnObjects("objects", args, ready, {name: team.namespace for name, team in teams.items()}, opts=opts)
    for_all = [applied for namespace, applied in declared.applied.items() if namespace not in teams]
    return for_all, [OfTenant(name, applied) for name, applied in declared.applied.items() if name in teams]


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
    return [path] if path.is_file() else []


def _missing(folder: str, root: Path) -> Iterator[str]:
    if not (root / folder).resolve().is_relative_to(root.resolve()):
        yield f"{folder} is outside of the project's folder, where its commits do not have it; move it there"
    elif not _files(root / folder):
        yield f"{folder} has no {' or '.join(SUFFIXES)} file; write one, or remove the folder from `objects`"


def _defined(documents: Sequence[tuple[str, Any, Any]]) -> dict[tuple[str, str], bool]:
    """Return whether kinds have namespaces that a document defines, by group and kind."""
    scopes = {}
    for *_, content in documents:
        if isinstance(content, Mapping) and content.get("kind") == kinds.CUSTOM_RESOURCE_DEFINITION.kind:
            spec = content.get("spec")
            named = spec.get("names") if isinstance(spec, Mapping) else None
            if isinstance(spec, Mapping) and isinstance(named, Mapping):
                scopes[str(spec.get("group")), str(named.get("kind"))] = spec.get("scope") == "Namespaced"
    return scopes


def _problems(content: Any, scopes: Mapping[tuple[str, str], bool]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the path and the problem of all that is wrong with a document."""
    if not isinstance(content, Mapping):
        yield (), "is no object; write apiVersion, kind and metadata"
        return
    version, kind, metadata = (content.get(field) for field in ("apiVersion", "kind", "metadata"))
    missing = [field for field, value in (("apiVersion", version), ("kind", kind)) if not _is_text(value)]
    if not isinstance(metadata, Mapping) or not _is_text(metadata.get("name")):
        missing.append("metadata.name")
    if str(kind).endswith("List") and isinstance(content.get("items"), list):
        yield ("kind",), f"{kind} is a list; write each of its items as a document of its own, with --- between them"
        return
    if missing or not isinstance(metadata, Mapping):
        yield (), f"{' and '.join(missing)} missing, or no text; an object needs apiVersion, kind and metadata.name"
        return
    yield from ((path, "a key that is no text; quote it") for path in _non_text_keys(content, ()))
    named = f"{kind} {metadata['name']}"
    in_namespace = scopes.get((str(version).rpartition("/")[0], str(kind)))
    if in_namespace and not _is_text(metadata.get("namespace")):
        yield ("metadata",), f"{named} has no namespace; write metadata.namespace"
    if in_namespace is False and "namespace" in metadata:
        yield ("metadata", "namespace"), f"{named} is an object of the cluster; remove its namespace"
    if "status" in content:
        yield ("status",), f"{named}: status is the server's; remove it"
    for field in _OF_THE_SERVER:
        if field in metadata:
            yield ("metadata", field), f"{named}: metadata.{field} is the server's; remove it"
    if (version, kind) == (kinds.SECRET.api_version, kinds.SECRET.kind):
        for field in ("data", "stringData"):
            if content.get(field):
                yield (
                    (field,),
                    f"{named} has its values in plain text; keep them out of files, e.g. with External Secrets or "
                    "Sealed Secrets",
                )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _non_text_keys(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the paths of maps with keys that JSON does not have; a list is not entered by its path."""
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            yield path
        for key, inner in value.items():
            yield from _non_text_keys(inner, (*path, str(key)))
    elif isinstance(value, list):
        for inner in value:
            yield from _non_text_keys(inner, path)


def _place(name: str, node: Any, path: tuple[str, ...]) -> str:
    line, column = places.position(node, path) or (node.start_mark.line + 1, node.start_mark.column + 1)
    return f"{name}:{line}:{column}"


def _identity(token: str, inputs: Mapping[str, Any]) -> Identity:
    version, _, kind = token.removeprefix("kubernetes:").rpartition(":")
    group = version.rpartition("/")[0]
    content = inputs.get("metadata")
    metadata: Mapping[str, Any] = content if isinstance(content, Mapping) else {}
    return "" if group == "core" else group, kind, str(metadata.get("namespace") or ""), str(metadata.get("name") or "")
