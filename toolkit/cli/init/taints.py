"""The taints of a cluster's GPU nodes: of pools, or what is to be decided where a stack would have none."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from components.base.tolerations import Taint
from toolkit.cli.init.decision import REVIEW, Decision
from toolkit.cli.init.facts import Node
from toolkit.cli.init.machine_kinds import Kind

_SHOWN = 3


def write(settings: dict[str, Any], kinds: Sequence[Kind]) -> Iterator[Decision]:
    """Write the taints that all nodes of a pool have, in place; yield those that only some of them have."""
    for kind in kinds:
        nodes = [node for group in kind.groups for node in group.nodes]
        lacking = _lacking(nodes)
        pool = settings["pools"][kind.name]
        if common := [taint for taint, without in lacking.items() if not without]:
            pool["taints"] = [taint.manifest() for taint in common]
        for taint, without in lacking.items():
            if without:
                shown = f"{', '.join(without[:_SHOWN])}{' and others' if len(without) > _SHOWN else ''}"
                yield Decision(
                    ("pools", kind.name, next(iter(pool))),
                    f"the taint {taint} is on some of its nodes, and not on {shown}; nodes of a pool have the same "
                    "(docs/guide/pools.md#taints)",
                    mark=REVIEW,
                )


def without_pools(settings: Mapping[str, Any], names: Sequence[str], nodes: Sequence[Node]) -> Iterator[Decision]:
    """Yield what is to be done about taints of the GPU nodes, by name, of a stack without pools."""
    every = list(_lacking([node for node in nodes if node.name in names]))
    place = next((index for index, node in enumerate(settings["nodes"]) if "machine" in node), None)
    if every and place is not None:
        yield Decision(
            ("nodes", place, "roles"),
            f"nodes with GPUs have the taint {' and '.join(map(str, every))}, which jobs of a stack without `pools` do "
            "not tolerate: give these nodes a pool with `taints`, or remove it (docs/guide/pools.md#taints)",
        )


def _lacking(nodes: Sequence[Node]) -> dict[Taint, list[str]]:
    """Return each taint with the names of the nodes that lack it."""
    every = dict.fromkeys(taint for node in nodes for taint in node.taints)
    return {taint: [node.name for node in nodes if taint not in node.taints] for taint in every}
