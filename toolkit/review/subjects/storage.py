"""Storage that comes or changes: volumes, claims and classes; and data sets, with the classes in them.

What is deleted is reported with the data in it.
"""

from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from core.apis import kinds
from core.datasets.lock import Lock
from policies.manifests.values import brief, read
from toolkit.review import data_set_changes
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.model import Change, Op, Resource
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import enumerated, name, title
from toolkit.review.stateful_objects import reclaim

_SCALE = (kinds.SCALE_CLUSTER, kinds.SCALE_REMOTE_CLUSTER, kinds.SCALE_FILE_SYSTEM)
_KINDS = (
    kinds.PERSISTENT_VOLUME,
    kinds.PERSISTENT_VOLUME_CLAIM,
    kinds.STORAGE_CLASS,
    kinds.CSI_SCALE_OPERATOR,
    *_SCALE,
)
_GIVES = {
    kinds.PERSISTENT_VOLUME.kind: (
        ("capacity", ("spec", "capacity", "storage")),
        ("where", ("spec", "csi", "volumeHandle")),
        ("for claim", ("spec", "claimRef", "name")),
        ("reclaim policy", ("spec", "persistentVolumeReclaimPolicy")),
        ("access", ("spec", "accessModes")),
        ("class", ("spec", "storageClassName")),
    ),
    kinds.PERSISTENT_VOLUME_CLAIM.kind: (
        ("size", ("spec", "resources", "requests", "storage")),
        ("volume", ("spec", "volumeName")),
        ("access", ("spec", "accessModes")),
        ("class", ("spec", "storageClassName")),
    ),
    kinds.STORAGE_CLASS.kind: (
        ("reclaim policy", ("reclaimPolicy",)),
        ("provisioner", ("provisioner",)),
        ("binding", ("volumeBindingMode",)),
        ("expansion", ("allowVolumeExpansion",)),
        ("file system", ("parameters", "volBackendFs")),
        ("cluster", ("parameters", "clusterId")),
        ("file set", ("parameters", "filesetType")),
        ("parameters", ("parameters",)),
    ),
    kinds.SCALE_CLUSTER.kind: (
        ("edition", ("spec", "license", "license")),
        ("RDMA", ("spec", "daemon", "clusterProfile", "verbsRdma")),
        ("ports", ("spec", "daemon", "clusterProfile", "verbsPorts")),
        ("clients' requests", ("spec", "daemon", "roles")),
    ),
    kinds.SCALE_REMOTE_CLUSTER.kind: (
        ("GUIs", ("spec", "gui", "hosts")),
        ("contact nodes", ("spec", "contactNodes")),
    ),
    kinds.SCALE_FILE_SYSTEM.kind: (
        ("storage cluster", ("spec", "remote", "cluster")),
        ("file system", ("spec", "remote", "fs")),
    ),
    kinds.CSI_SCALE_OPERATOR.kind: (("file system clusters", ("spec", "clusters")),),
}
_MANY = ("spec", "clusters"), ("parameters",), ("spec", "daemon", "roles")
"""Too long to be shown: only that they change."""
TYPE = "hpc:storage:DataSetLock"


def find(indexed: IndexedReview) -> Section | None:
    """Report which storage comes and changes."""
    lines = [line for change in indexed.changed(*_KINDS) if (line := _line(change)) is not None]
    return section("Storage", lines)


def _line(change: Change) -> Line | None:
    after = change.after
    if after is None or change.op is Op.FORGET:
        return None
    alarm = after.kind == kinds.STORAGE_CLASS.kind and reclaim(after) == "Delete"
    if change.before is None:
        values = [f"{words} {_value(read(after.inputs, *path))}" for words, path in _fields(after) if path not in _MANY]
        danger = "; its volumes are deleted with their claims" if alarm else ""
        return Line(f"{title(after)} is new{': ' if values else ''}{', '.join(values)}{danger}", alarm=alarm)
    field_changes = list(_field_changes(change.before, after))
    if not field_changes:
        return None
    again = ", and is recreated" if change.op is Op.REPLACE else ""
    return Line(
        f"{title(after)} changes: {', '.join(field_changes)}{again}", alarm=alarm and reclaim(change.before) != "Delete"
    )


def _fields(resource: Resource) -> Iterator[tuple[str, tuple[str, ...]]]:
    for words, path in _GIVES.get(resource.kind, ()):
        if read(resource.inputs, *path) is not None:
            yield words, path


def _field_changes(before: Resource, after: Resource) -> Iterator[str]:
    shown = False
    for words, path in _GIVES.get(after.kind, ()):
        old, new = (read(resource.inputs, *path) for resource in (before, after))
        if old == new or (path in _MANY and shown):
            continue
        shown = True
        yield words if path in _MANY else f"{words} {_value(new)} (was {_value(old)})"


def _value(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, list):
        return enumerated([_value(item) for item in value]) or "none"
    return name(value if isinstance(value, str) else brief(value))


def find_data_sets(indexed: IndexedReview) -> Section | None:
    """Report which data sets change."""
    before, after = (
        {component.name: component for component in side.components.get(TYPE, ())}
        for side in (indexed.before, indexed.after)
    )
    lines = [line for key in sorted({*before, *after}) for line in _data_set(before.get(key), after.get(key))]
    return section("Data sets", lines)


def _data_set(before: Resource | None, after: Resource | None) -> Iterator[Line]:
    resource = after or before
    if resource is None or before == after:
        return
    old, new = (_lock(resource) for resource in (before, after))
    shown = new or old
    what = f"data set {name(shown.name if shown else resource.name)} of {name(resource.inputs.get('namespace'))}"
    if before is None:
        yield Line(f"{what} is new" + (f": {data_set_changes.counted(new)}" if new else ""))
    elif after is None:
        yield Line(f"{what} is removed: no job reads it any longer, and its files stay")
    elif old and new:
        yield from data_set_changes.lines(what, old, new)
    else:
        yield Line(f"{what} changes, and how cannot be said: one of its locks is of another version")


def _lock(resource: Resource | None) -> Lock | None:
    if resource is None:
        return None
    try:
        return Lock.model_validate(resource.inputs.get("lock"))
    except ValidationError:
        return None
