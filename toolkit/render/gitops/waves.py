"""From recorded registrations to waves: each object after all that it depends on.

What the program only waits for is no object. The wait belongs to the object that it is about, and what depends on the
wait depends on that object. An object whose wait needs another one, as an ImageStream needs its BuildConfig, shares
the wave of that one.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from typing import Any

from pulumi.output import Unknown

from components.base.waits import expressions
from core.apis import kinds, names
from core.errors import UserError
from core.pulumi_values import REDACTED
from toolkit.render.manifests import PATCH, file_name, kind_of, manifest_of, merged
from toolkit.render.recorder import Registration

_UNNAMED = kinds.CLUSTER_SERVICE_VERSION.kind
"""Kind of a wait whose object has no name before the cluster has chosen one."""


class UnknownValueError(UserError):
    """A manifest needs what only a cluster or a secret has."""


@dataclass(frozen=True)
class Member:
    """One object of a wave."""

    file: str
    manifest: Mapping[str, Any]
    waits: tuple[str, ...] = ()
    """Expressions of `components.base.waits` that hold when the object is healthy."""
    timeout: int = 0
    """Seconds after which an update gives the object up; 0 where the provider's own time holds."""
    partial: bool = True
    """Whether the object has another owner, and the manifest has only the fields that the stack sets."""
    kept: bool = False
    """Whether the stack never deletes the object."""
    job: bool = False
    """Whether it runs to an end, and again only when it is created again."""
    frozen: bool = False
    """Whether a changed specification waits for the next run."""

    @property
    def identity(self) -> tuple[str, str, str]:
        """Kind, namespace and name."""
        metadata = self.manifest["metadata"]
        return self.manifest["kind"], metadata.get("namespace", ""), metadata["name"]


@dataclass(frozen=True)
class SecretReference:
    """A Secret that must exist, and whose values no file has."""

    namespace: str
    name: str
    type: str
    keys: tuple[str, ...]
    needed: int | None = None
    """First wave with an object that depends on it."""


@dataclass(frozen=True)
class Waves:
    """A stack's objects in the order in which they can be applied."""

    members: tuple[tuple[Member, ...], ...]
    secrets: tuple[SecretReference, ...] = ()


@dataclass
class _Graph:
    """Objects by file name, and what each depends on."""

    members: dict[str, Member] = field(default_factory=dict)
    before: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def waves(recorded: Iterable[Registration]) -> Waves:
    """Return the waves of a stack from the registrations of a first preview.

    Raises UnknownValueError where a manifest has a value that only an update determines, or a secret one.
    """
    by_urn = {item.urn: item for item in recorded}
    objects = [item for item in by_urn.values() if item.is_kubernetes]
    graph = _Graph()
    for item in filter(_is_object, objects):
        _refuse_unknown(item)
        file = file_name(manifest_of(item))
        graph.members[file] = _joined(graph.members.get(file), _member(file, item))
        graph.before[file] |= set(_files(item, by_urn)) - {file}
    for file, member in graph.members.items():
        if member.manifest["kind"] == kinds.CUSTOM_RESOURCE_DEFINITION.kind:
            graph.before[file] = set()
    numbers = _levels(graph.before)
    secrets = [_secret(item, by_urn.values(), numbers) for item in objects if kind_of(item) == kinds.SECRET.kind]
    last = max(numbers.values(), default=-1)
    return Waves(
        tuple(
            tuple(graph.members[file] for file in sorted(graph.members) if numbers[file] == number)
            for number in range(last + 1)
        ),
        tuple(sorted(secrets, key=lambda secret: (secret.namespace, secret.name))),
    )


def _is_object(item: Registration) -> bool:
    return kind_of(item) not in (kinds.SECRET.kind, _UNNAMED)


def _member(file: str, item: Registration) -> Member:
    annotations = item.inputs["metadata"].get("annotations") or {}
    return Member(
        file=file,
        manifest=manifest_of(item),
        waits=tuple(expressions(annotations)),
        timeout=int(annotations.get(names.TIMEOUT_SECONDS, 0)),
        partial=item.type.endswith(PATCH),
        kept=item.protect or item.retain_on_delete,
        job=item.replacement_trigger is not None,
        frozen=bool(item.ignore_changes),
    )


def _joined(earlier: Member | None, later: Member) -> Member:
    """Return a member with what several registrations of the same object say."""
    if earlier is None:
        return later
    whole, part = (later, earlier) if earlier.partial else (earlier, later)
    return replace(
        whole,
        manifest=merged(part.manifest, whole.manifest),
        waits=(*whole.waits, *part.waits),
        timeout=max(whole.timeout, part.timeout),
        kept=whole.kept or (whole.partial and part.kept),
    )


def _files(item: Registration, by_urn: Mapping[str, Registration]) -> Iterator[str]:
    """Yield the files of the objects that an object depends on; what is no object, by what that depends on."""
    owner = by_urn.get(item.parent)
    for urn in (*item.dependencies, *(owner.dependencies if owner else ())):
        needed = by_urn[urn]
        if _is_object(needed):
            yield file_name(manifest_of(needed))
        elif needed is not item:
            yield from _files(needed, by_urn)


def _levels(before: Mapping[str, set[str]]) -> dict[str, int]:
    """Return the wave of each file: one more than the last of those before it; a cycle shares one wave."""
    group = {file: file for file in before}
    while True:
        graph: dict[str, set[str]] = {name: set() for name in group.values()}
        for file, files in before.items():
            graph[group[file]] |= {group[name] for name in files} - {group[file]}
        try:
            order = [*TopologicalSorter(graph).static_order()]
        except CycleError as error:
            cycle = set(error.args[1])
            group = {file: min(cycle) if name in cycle else name for file, name in group.items()}
            continue
        levels: dict[str, int] = {}
        for name in order:
            levels[name] = max((levels[other] + 1 for other in graph[name]), default=0)
        return {file: levels[name] for file, name in group.items()}


def _secret(item: Registration, recorded: Iterable[Registration], numbers: Mapping[str, int]) -> SecretReference:
    metadata = item.inputs["metadata"]
    users = [other for other in recorded if item.urn in other.dependencies and other.is_kubernetes]
    files = [file_name(manifest_of(other)) for other in users if _is_object(other)]
    return SecretReference(
        namespace=metadata["namespace"],
        name=metadata["name"],
        type=item.inputs.get("type", "Opaque"),
        keys=item.secret_keys,
        needed=min((numbers[file] for file in files), default=None),
    )


def _refuse_unknown(item: Registration) -> None:
    kind, metadata = kind_of(item), item.inputs["metadata"]
    place = "/".join(str(part) for part in (kind, metadata.get("namespace"), metadata["name"]) if part)
    for path, value in _values(item.inputs, ""):
        if isinstance(value, Unknown):
            raise UnknownValueError(
                f"{place}: the cluster determines the value of {path} during an update, and a file cannot have it; "
                "use ./hpc up for this stack, or remove the setting that declares the object"
            )
        if value == REDACTED:
            raise UnknownValueError(
                f"{place}: {path} has a secret value, which is written to no file; use ./hpc up for this stack"
            )


def _values(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _values(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _values(inner, f"{path}[{index}]")
    else:
        yield path, value
