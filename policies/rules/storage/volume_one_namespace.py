"""A directory is used by the volumes of one namespace."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from posixpath import dirname, normpath

from core.apis.kinds import PERSISTENT_VOLUME
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Parameters, Rule
from policies.views.volumes import HANDLE, Handle, handle_of, namespaces, pairs

_DEEPEST = 64


@dataclass(frozen=True)
class _Use:
    """One volume on a directory."""

    volume: Obj
    path: str
    namespaces: frozenset[str]


_Directory = tuple[str, str]  # file system, path


def _examine(subject: Obj, inventory: Inventory, _: Parameters) -> Iterator[Violation]:
    handle = handle_of(subject)
    if handle is None or handle.faults:
        return
    using_namespaces = namespaces(subject, inventory.once(pairs))
    depth = _DEEPEST if using_namespaces else 1  # of a directory above, only the namespaces matter
    for other in _overlapping(subject, handle, inventory.once(_uses), depth):
        other_namespaces = other.namespaces
        same = normpath(other.path) == normpath(handle.path)
        if using_namespaces and other_namespaces and using_namespaces != other_namespaces:
            users = ", ".join(sorted(other_namespaces))
            relation = "is also" if same else "lies in"
            yield subject.violation(
                f"{handle.path} {relation} {other.path} of {other.volume.name}, which {users} uses", *HANDLE
            )
            return
        if same and not (using_namespaces and other_namespaces):
            yield subject.violation(f"{handle.path} is also the directory of {other.volume.name}", *HANDLE)
            return


def _overlapping(
    subject: Obj, handle: Handle, uses: Mapping[_Directory, tuple[_Use, ...]], depth: int
) -> Iterator[_Use]:
    """Yield the uses of a volume's directory and of those above it, by other volumes."""
    path = normpath(handle.path)
    for _ in range(depth):
        # Two are enough: of those on one directory at least one is not the volume itself.
        yield from (use for use in uses.get((handle.file_system.upper(), path), ()) if use.volume != subject)
        if path in ("/", "//"):
            return
        path = dirname(path)


def _uses(inventory: Inventory) -> dict[_Directory, tuple[_Use, ...]]:
    """Return the uses of each directory, one for each set of namespaces and one more."""
    uses: dict[_Directory, dict[frozenset[str], list[_Use]]] = defaultdict(lambda: defaultdict(list))
    for volume in inventory.of(PERSISTENT_VOLUME):
        handle = handle_of(volume)
        if handle is not None and not handle.faults:
            users = namespaces(volume, inventory.once(pairs))
            same = uses[handle.file_system.upper(), normpath(handle.path)][users]
            if len(same) < 2:  # noqa: PLR2004 - the volume itself and another
                same.append(_Use(volume, handle.path, users))
    return {key: tuple(use for same in sets.values() for use in same)[:100] for key, sets in uses.items()}


VOLUME_ONE_NAMESPACE = Rule(
    name="volume-one-namespace",
    what="No two volumes of different namespaces use the same directory, or one inside the other.",
    why="OpenShift relabels a volume's files to the namespace's MCS level (s0:c27,c24). The second namespace takes "
    "them from the first, whose running jobs then get `Permission denied` on files that they have open.",
    remedy="Give each namespace a directory of its own; if they must share one, label it container_file_t:s0 and set "
    "seLinuxOptions.level s0 in the pods",
    source="platform-facts 1.9, 4.3 rule 27; R-4.2-3",
    severity=Severity.ADVISORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(PERSISTENT_VOLUME,),
    links=True,
)
