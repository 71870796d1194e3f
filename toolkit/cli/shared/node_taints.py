"""Taints of nodes that a site has given them (pure)."""

from collections.abc import Iterator, Mapping
from typing import Any

from components.base.tolerations import Taint
from core.apis.names import KUBERNETES_TAINTS
from policies.manifests.values import entries


def repelling(node: Mapping[str, Any]) -> Iterator[Taint]:
    """Yield the taints that keep pods off a node of the API, without those by which Kubernetes itself does."""
    for entry in entries(node, "spec", "taints"):
        fields: dict[str, Any] = {field: entry.get(field) or None for field in ("key", "value", "effect")}
        taint = Taint.model_construct(**fields)
        if taint.keeps_off and not str(taint.key).startswith(KUBERNETES_TAINTS):
            yield taint
