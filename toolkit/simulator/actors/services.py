"""What pods print when they start that are to run for good: the GPU device plugin."""

from datetime import UTC, datetime

from toolkit.simulator.actors import gpus, pods
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.performance import plugin_log


def first_lines(pod: Object, runtime: Runtime) -> tuple[str, ...]:
    """Return them; none of pods of which nothing is known."""
    if not gpus.is_plugin(pod):
        return ()
    node = pods.node_name(pod)
    has_driver = gpus.has_driver(runtime.nodes.get(node), runtime.running_on(node))
    tag = pods.image(pod).partition("@")[0].rpartition("/")[2].partition(":")[2]
    return tuple(plugin_log.lines(tag, datetime.now(UTC), has_driver=has_driver))
