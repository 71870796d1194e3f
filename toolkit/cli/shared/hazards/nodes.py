"""Nodes and their pools, as live objects show them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from core.apis import names
from policies.manifests.values import entries, read
from toolkit.cli.shared import metadata
from toolkit.review.sentences import quoted

Object = Mapping[str, Any]
OSTREE_VERSION = f"{names.NODE_FEATURE}system-os_release.OSTREE_VERSION"
"""Label with the version of a node's system, RHCOS."""
_CONFIGURED = "machineconfiguration.openshift.io/desiredConfig"
_RENDERED = re.compile(r"rendered-(.+)-[0-9a-f]+")
_ADAPTERS = tuple(f"{names.NODE_FEATURE}pci-{device}.present" for device in ("15b3", "0200_15b3", "0207_15b3"))


def has_gpu(node: Object) -> bool:
    """Whether node feature discovery found a GPU on a node."""
    return any(metadata.labels(node).get(label) == "true" for label in names.GPU_FEATURES)


def has_adapter(node: Object) -> bool:
    """Whether node feature discovery found an adapter of Mellanox on a node."""
    return any(metadata.labels(node).get(label) == "true" for label in _ADAPTERS)


def pool_of(node: Object) -> str:
    """Return the machine config pool that a node has its configuration of; empty before it has one."""
    rendered = _RENDERED.fullmatch(metadata.annotations(node).get(_CONFIGURED, ""))
    return rendered[1] if rendered else ""


def named(nodes: Iterable[Object]) -> list[str]:
    """Return the names of nodes, sorted."""
    return sorted(map(metadata.name, nodes))


def condition(obj: Object, kind: str, status: str = "True") -> Object | None:
    """Return a condition of an object that has this status; None where it does not."""
    return next(_conditions(obj, kind, status), None)


def _conditions(obj: Object, kind: str, status: str) -> Iterator[Object]:
    for entry in entries(obj, "status", "conditions"):
        if (read(entry, "type"), read(entry, "status")) == (kind, status):
            yield entry


def why(entry: Object) -> str:
    """Return reason and message of a condition."""
    return quoted(": ".join(text for key in ("reason", "message") if (text := str(entry.get(key) or "").strip())))
