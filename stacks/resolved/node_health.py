"""How many GPU nodes must be healthy for one that is lost to be remedied, and when its pods are freed."""

from collections import Counter

from stacks.resolved import topology
from stacks.resolved.node_loss import SILENT
from stacks.settings.platform import Settings

_SHARE = 10
"""One of so many nodes may be lost at the same time, where the settings name no limit."""
RESTARTED = 180
"""Seconds after which a node counts as restarted by default: (15 + 5) x 3 for the API server, 30 for its peers, 60 for
its watchdog, and 30 (medik8s/self-node-remediation, internal/reboot/calculator.go). Many workers take longer to ask."""
COLLECTED = 20
"""Seconds between two looks of the pod garbage collector."""


def freed_after(settings: Settings) -> int | None:
    """Return the seconds from a node's last sign until its pods are gone for good; None: nobody frees them."""
    unheard = settings.node_health.unheard_seconds() if settings.node_health else None
    return None if unheard is None else SILENT + unheard + RESTARTED + COLLECTED


def lost_at_most(settings: Settings) -> int:
    """Return how many GPU nodes may be lost for any to be remedied: so few that they are not all those of a switch."""
    switches = Counter(
        (level, domain)
        for pool in settings.gpu_pools
        for place in topology.positions(pool, settings).values()
        for level, domain in place.items()
    )
    below = [nodes - 1 for nodes in switches.values() if nodes > 1]
    return max(1, min([len(settings.gpu_nodes) // _SHARE, *below]))


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
