"""How many GPU nodes must be healthy for one that is lost to be remedied."""

from collections import Counter

from stacks.resolved import topology
from stacks.settings.platform import Settings

_SHARE = 10
"""One of so many nodes may be lost at the same time, where the settings name no limit."""


def lost_at_most(settings: Settings) -> int:
    """Return how many GPU nodes may be lost for any to be remedied: so few that they are not all those of a switch."""
    switches = Counter(
        (level, domain)
        for pool in settings.gpu_pools
        for place in topology.positions(pool, settings).values()
        for level, domain in place.items()
    )
    below = [nodes - 1 for nodes in switches.values() if nodes > 1]
    return max(1, min(len(settings.gpu_nodes) // _SHARE, *below, len(settings.gpu_nodes)))


def healthy_at_least(settings: Settings) -> int | None:
    """Return how many must be healthy, by the settings or what follows from the nodes; None without such settings."""
    health, nodes = settings.node_health, len(settings.gpu_nodes)
    if health is None:
        return None
    if health.min_healthy is not None:
        return _rounded_up(health.min_healthy, nodes)
    if health.max_unhealthy is not None:
        return nodes - _rounded_up(health.max_unhealthy, nodes)
    return nodes - lost_at_most(settings)


def _rounded_up(limit: str, nodes: int) -> int:
    """Return how many of `nodes` a number or a share means to Node Health Check."""
    share = int(limit.removesuffix("%"))
    return -(-nodes * share // 100) if limit.endswith("%") else share
