"""What is wrong with the remedy of lost nodes: missing operators, limits that allow none of it or all, haste."""

from collections.abc import Iterator

from components.nodes.node_health import NodeHealth
from core.wording import plural
from stacks.resolved.node_health import healthy_at_least
from stacks.settings.platform import Settings

_FORGIVEN = 50
"""Seconds that the node controller waits for a kubelet by default before a node is not Ready."""


def problems(settings: Settings) -> Iterator[str]:
    """Yield what keeps lost nodes from being remedied, and a limit that is none."""
    health = settings.node_health
    if health is None:
        return
    missing = [
        name for name in ("node_health_check", "self_node_remediation") if getattr(settings.operators, name) is None
    ]
    if missing:
        yield (
            f"node_health: needs {' and '.join(f'operators.{name}' for name in missing)}; add `operators: "
            f"{{{', '.join(f'{name}: {{}}' for name in missing)}}}`, with `installed: true` where the cluster has it"
        )
    yield from _limit(settings, health)


def _limit(settings: Settings, health: NodeHealth) -> Iterator[str]:
    nodes, healthy = len(settings.gpu_nodes), healthy_at_least(settings)
    field = "max_unhealthy" if health.max_unhealthy is not None else "min_healthy"
    limit = getattr(health, field)
    if healthy is None or limit is None:
        return
    of_nodes = f"node_health.{field} {limit} of {plural(nodes, 'GPU node')}"
    if healthy >= nodes:
        yield f"{of_nodes}: all would have to be healthy, and none would ever be remedied; allow one to be lost"
    if healthy <= 0:
        yield f"{of_nodes}: all may be lost, and a fault of a switch would restart each of them; lower it"


def warnings(settings: Settings) -> Iterator[str]:
    """Yield a duration that is no longer than what any node is forgiven."""
    health = settings.node_health
    seconds = health.unheard_seconds() if health else None
    if seconds is not None and seconds < _FORGIVEN:
        yield (
            f"node_health.signs: a node restarts {seconds} s after it counts as not Ready, less than the {_FORGIVEN} s "
            "for which its kubelet may be silent: a short fault of the network would restart it; raise `seconds`"
        )
