"""Machine config pools: which nodes are in which, how far they are, and what a pool says of them. Pure functions."""

from collections.abc import Iterable

from policies.manifests.label_selectors import selects
from toolkit.simulator import pods
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.conditions import stated

PREFIX = "machineconfiguration.openshift.io/"
CURRENT, DESIRED, STATE = PREFIX + "currentConfig", PREFIX + "desiredConfig", PREFIX + "state"
REASON = PREFIX + "reason"
WORKING, FINISHED, DEGRADED = "Working", "Done", "Degraded"
ROLES = ("master", "worker")


def members(pool: Object, pools: Iterable[Object], nodes: Iterable[Object]) -> list[Object]:
    """Return the pool's nodes by name: a master is the master pool's, and a custom pool goes before `worker`."""
    all_pools = [*pools]
    name = pool["metadata"]["name"]
    return sorted(
        (node for node in nodes if _pool_of(node, all_pools) == name),
        key=lambda node: str(node["metadata"]["name"]),
    )


def _pool_of(node: Object, pools: list[Object]) -> str | None:
    fitting = [
        str(pool["metadata"]["name"])
        for pool in pools
        if selects(pool["spec"].get("nodeSelector") or {}, pods.labels(node))
    ]
    custom = sorted(name for name in fitting if name not in ROLES)
    order = [name for name in (ROLES[0], *custom, ROLES[1]) if name in fitting]
    return order[0] if order else None


def has(node: Object, config: str) -> bool:
    """Return whether a node runs with a configuration."""
    have = pods.annotations(node)
    return have.get(CURRENT) == config and have.get(STATE) == FINISHED


def stuck(node: Object, config: str) -> bool:
    """Return whether a node did not come back with a configuration."""
    have = pods.annotations(node)
    return have.get(STATE) == DEGRADED and have.get(DESIRED) == config


def at_once(pool: Object, nodes: int) -> int:
    """Return how many nodes of a pool may be away at a time: one, or maxUnavailable as a number or a share."""
    limit = str(pool["spec"].get("maxUnavailable") or 1)
    share = int(limit.removesuffix("%"))
    return max(1, nodes * share // 100 if limit.endswith("%") else share)


def status(pool: Object, nodes: list[Object], configuration: Object) -> Object:
    """Return the status of a pool: its configuration is the new one only when every node has it."""
    name = configuration["name"]
    done = sum(has(node, name) for node in nodes)
    updated = done == len(nodes)
    lost = [node for node in nodes if stuck(node, name)]
    return {
        "observedGeneration": pool["metadata"]["generation"],
        "machineCount": len(nodes),
        "updatedMachineCount": done,
        "readyMachineCount": done,
        "unavailableMachineCount": len(nodes) - done,
        "degradedMachineCount": len(lost),
        "conditions": stated(pool, _conditions(updated, lost)),
        **({"configuration": configuration} if updated else {}),
    }


def _conditions(updated: bool, lost: list[Object]) -> dict[str, tuple[str, str, str]]:
    why = "".join(
        f'Node {node["metadata"]["name"]} is reporting: "{pods.annotations(node).get(REASON)}"' for node in lost[:1]
    )
    nodes = f"{len(lost)} nodes are reporting degraded status on sync" if lost else ""
    return {
        "Updated": (str(updated), "", ""),
        "Updating": (str(not updated), "", ""),
        "Degraded": (str(bool(lost)), nodes, why),
        "NodeDegraded": (str(bool(lost)), nodes, why),
        "RenderDegraded": ("False", "", ""),
    }
