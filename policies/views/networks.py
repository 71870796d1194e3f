"""Secondary networks that a pod joins, as Multus reads them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from core.apis.names import NETWORKS
from policies.manifests.pods import Pod
from policies.manifests.values import read
from policies.views.go_json import parse_folded

DEFAULT_NETWORK = "v1.multus-cni.io/default-network"
ANNOTATIONS = (NETWORKS, DEFAULT_NETWORK)
_SHORT = re.compile(r"(?:([^/@\s]+)/)?([^/@\s]+)(?:@[^/@\s]+)?")
_LONGEST = 1 << 16


@dataclass(frozen=True)
class Network:
    """One network: `namespace` is empty where it is the pod's own."""

    namespace: str
    name: str


def networks(pod: Pod) -> Iterator[tuple[str, Network | None]]:
    """Yield the networks of a pod with the annotation that names each; None for an entry that cannot be read."""
    for key in ANNOTATIONS:
        if text := pod.metadata.text("annotations", key):
            for network in _read(text[:_LONGEST]):
                yield key, network


@lru_cache(maxsize=256)
def _read(text: str) -> tuple[Network | None, ...]:
    if text.lstrip().startswith(("[", "{")):
        try:
            content = parse_folded(text)
        except ValueError:
            return (None,)
        entries = content if isinstance(content, list) else [content]
        return tuple(_entry(entry) for entry in entries)
    return tuple(_short(part) for part in text.split(",") if part.strip())


def _entry(entry: object) -> Network | None:
    name, namespace = read(entry, "name"), read(entry, "namespace")
    return Network(namespace if isinstance(namespace, str) else "", name) if isinstance(name, str) else None


def _short(part: str) -> Network | None:
    match = _SHORT.fullmatch(part.strip())
    return Network(match[1] or "", match[2]) if match else None
