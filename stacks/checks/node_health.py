"""What is wrong with the remedy of lost nodes: missing operators, limits that allow none of it or all, haste."""

from collections.abc import Iterator

from components.nodes.node_health import NodeHealth
from core.wording import plural
from stacks.resolved import jobs
from stacks.resolved.jobs import ProgramJob
from stacks.resolved.node_health import healthy_at_least
from stacks.resolved.node_loss import SILENT
from stacks.settings.platform import Settings


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
    if nodes == 1:
        yield "node_health: none but the one GPU node could be healthy while it is lost; leave it out"
        return
    if healthy is None or limit is None:
        return
    of_nodes = f"node_health.{field} {limit} of {plural(nodes, 'GPU node')}"
    if healthy >= nodes:
        yield f"{of_nodes}: all would have to be healthy, and none would ever be remedied; allow one to be lost"
    if healthy <= 0:
        yield f"{of_nodes}: all may be lost, and a fault of a switch would restart each of them; lower it"


def warnings(settings: Settings) -> Iterator[str]:
    """Yield a duration that is shorter than what any node is forgiven, or than what a job forgives its own."""
    seconds = settings.node_health.unheard_seconds() if settings.node_health else None
    if seconds is None:
        return
    if seconds < SILENT:
        yield (
            f"node_health.signs: a node restarts {seconds} s after it counts as not Ready, less than the {SILENT} s "
            "for which its kubelet may be silent: a short fault of the network would restart it; raise `seconds`"
        )
    for job in jobs.every(settings):
        forgiven = job.resilience.lost_after if isinstance(job, ProgramJob) else None
        if forgiven is not None and forgiven > seconds:
            yield (
                f"node_health.signs: a node restarts {seconds} s after it counts as not Ready, and {job.id} leaves its "
                f"pods there for {forgiven} s (resilience.lost_after); raise `seconds`, or lower lost_after"
            )
