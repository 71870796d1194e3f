"""NVIDIA's exporter as a pod: the list that it reads, and why it exits at its start."""

from toolkit.simulator import pods
from toolkit.simulator.actors import gpus, images
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.actors.volumes import read_mounted
from toolkit.simulator.metrics import dcgm_exporter

NO_DRIVER = "Error starting nv-hostengine: NVML doesn't exist on this system"


def is_exporter(pod: Object) -> bool:
    """Return whether a pod is NVIDIA's exporter."""
    return pods.basename(pods.image(pod)) in images.GPU_EXPORTERS


def counters(runtime: Runtime, pod: Object) -> tuple[dcgm_exporter.Counter, ...]:
    """Return the list of an exporter's pod; raise ListError where the exporter exits by it."""
    return dcgm_exporter.counters(pod, lambda path: read_mounted(runtime, pod, path))


def fault(runtime: Runtime, pod: Object) -> str | None:
    """Return why an exporter exits at its start, None when it does not."""
    node = runtime.nodes.get(pods.node_name(pod))
    if node is None or not gpus.has_driver(node, runtime.running_on(pods.node_name(pod))):
        return NO_DRIVER
    try:
        counters(runtime, pod)
    except dcgm_exporter.ListError as error:
        return str(error)
    return None
