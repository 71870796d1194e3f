"""Static volumes of the Spectrum Scale driver, which claims they belong to, and the nodes of container-native Scale."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from posixpath import normpath

from core.apis.kinds import NODE, PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM, SCALE_CLUSTER
from core.apis.names import SCALE_CORE, SCALE_CSI_DRIVER
from core.wording import plural
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.values import Path, Unknown, brief

HANDLE: Path = ("spec", "csi", "volumeHandle")

_CLUSTER = re.compile(r"[0-9]{1,20}\Z")
_FILE_SYSTEM = re.compile(r"[0-9A-Fa-f]{8}:[0-9A-Fa-f]{8}\Z")
_SHORT, _WITH_FILESET, _LONG = 3, 4, 7
_LONGEST = 4096
_KINDS_OF_STORAGE = {"0": "classic", "1": "consistency group", "2": "cache"}
_KINDS_OF_VOLUME = {"0": "directory", "1": "dependent fileset", "2": "independent fileset", "3": "shallow copy"}


@dataclass(frozen=True)
class Handle:
    """What a volume handle says; `faults` are what is wrong with it."""

    cluster: str = ""
    file_system: str = ""
    path: str = ""
    faults: tuple[str, ...] = ()
    fileset: str = ""
    """Name or id of the fileset, where the handle has it."""


def handle_of(volume: Obj) -> Handle | None:
    """Return the handle of a volume of the Spectrum Scale driver; None for another volume or an unknown handle."""
    if volume.read("spec", "csi", "driver") != SCALE_CSI_DRIVER:
        return None
    value = volume.read(*HANDLE)
    if isinstance(value, Unknown):
        return None
    return parse(value) if isinstance(value, str) else Handle(faults=(f"{brief(value)} is not text",))


def parse(text: str) -> Handle:
    """Read a volume handle in its three, four or seven parts."""
    parts = text[:_LONGEST].split(";")
    if len(parts) == _LONG:
        return _long(parts)
    if len(parts) not in (_SHORT, _WITH_FILESET):
        return Handle(faults=(f"has {plural(len(parts), 'part')} between semicolons, not 3, 4 or 7",))
    faults, fileset = [*_identity(parts[0], parts[1])], ""
    if len(parts) == _WITH_FILESET:
        key, equals, fileset = parts[2].partition("=")
        if key not in ("fileset", "filesetName") or not equals or not fileset:
            faults.append(f"third part {parts[2][:80]!r} is neither fileset=<id> nor filesetName=<name>")
    key, _, path = parts[-1].partition("=")
    if key != "path":
        faults.append(f"last part {parts[-1][:80]!r} is not path=<path>")
    else:
        faults += _path(path)
    return Handle(parts[0], parts[1], path, tuple(faults), fileset)


def _long(parts: list[str]) -> Handle:
    storage, volume, cluster, file_system, group, fileset, path = parts
    faults = []
    if storage not in _KINDS_OF_STORAGE:
        faults.append(f"first part {storage[:80]!r} is not 0, 1 or 2 (storage class type)")
    if volume not in _KINDS_OF_VOLUME:
        faults.append(f"second part {volume[:80]!r} is not 0, 1, 2 or 3 (volume type)")
    faults += _identity(cluster, file_system)
    if storage == "0" and group:
        faults.append(f"fifth part {group[:80]!r} names a consistency group, which storage class type 0 has not")
    if volume == "0" and fileset:
        faults.append(f"sixth part {fileset[:80]!r} names a fileset, and volume type 0 is a directory")
    elif volume in ("1", "2") and not fileset:
        faults.append(f"sixth part is empty, and volume type {volume} is the {_KINDS_OF_VOLUME[volume]}")
    faults += _path(path)
    return Handle(cluster, file_system, path, tuple(faults), fileset)


def _identity(cluster: str, file_system: str) -> Iterator[str]:
    if not _CLUSTER.match(cluster):
        yield f"cluster id {cluster[:80]!r} is not a number of up to 20 digits"
    if not _FILE_SYSTEM.match(file_system):
        yield f"file system UID {file_system[:80]!r} is not two times eight hexadecimal digits with a colon between"


def _path(path: str) -> Iterator[str]:
    if not path.startswith("/"):
        yield f"path {path[:80]!r} is not absolute"
    elif normpath(path) != (path.rstrip("/") or "/"):
        yield f"path {path[:80]!r} has empty parts or dots in it"


@dataclass(frozen=True)
class Pairs:
    """Which claims and volumes name each other; keys are names, claims are (namespace, name)."""

    by_volume_name: Mapping[str, tuple[Obj, ...]]
    """Claims that name a volume, by that volume's name."""
    by_claim: Mapping[tuple[str, str], tuple[Obj, ...]]
    """Volumes that name a claim, by that claim."""
    by_class: Mapping[str, tuple[Obj, ...]]
    """Volumes by storage class."""


def pairs(inventory: Inventory) -> Pairs:
    """Return which claims and volumes name each other; for `Inventory.once`."""
    claims: dict[str, list[Obj]] = defaultdict(list)
    for claim in inventory.of(PERSISTENT_VOLUME_CLAIM):
        if name := claim.text("spec", "volumeName"):
            claims[name].append(claim)
    volumes: dict[tuple[str, str], list[Obj]] = defaultdict(list)
    classes: dict[str, list[Obj]] = defaultdict(list)
    for volume in inventory.of(PERSISTENT_VOLUME):
        if name := volume.text("spec", "claimRef", "name"):
            volumes[volume.text("spec", "claimRef", "namespace"), name].append(volume)
        classes[volume.text("spec", "storageClassName")].append(volume)
    return Pairs(*({key: tuple(objects) for key, objects in table.items()} for table in (claims, volumes, classes)))  # type: ignore[arg-type]


def namespaces(volume: Obj, bindings: Pairs) -> frozenset[str]:
    """Return the namespaces from which a volume is used, as far as they are written down."""
    named = volume.text("spec", "claimRef", "namespace")
    return frozenset(
        name for name in (named, *(claim.namespace for claim in bindings.by_volume_name.get(volume.name, ()))) if name
    )


def is_deployed(inventory: Inventory) -> bool:
    """Return whether the cluster has container-native Storage Scale; for `Inventory.once`."""
    return bool(inventory.of(SCALE_CLUSTER))


def client_nodes(inventory: Inventory) -> frozenset[str]:
    """Return the nodes with the label of its clients, several patches of a node as one; for `Inventory.once`."""
    place = ("metadata", "labels", SCALE_CORE)
    return frozenset(node.name for node in inventory.of(NODE) if node.read(*place) is not None)
