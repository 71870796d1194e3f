"""What the containers of a pod wait for on its node, and why they do not work once they are started."""

from collections.abc import Callable

from toolkit.simulator import pods
from toolkit.simulator.actors import gpu_exporter, gpus, images, launcher
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.actors.scale_operator import core_fault, core_waits_for_driver

_PRESTART = "kubelet-plugin-prestart.sh"
"""What the chart of NVIDIA's driver for claims has the plugin's pod run first: it searches for the GPUs' driver."""


def waits(pod: Object, runtime: Runtime) -> bool:
    """Return whether an init container of the pod has still to wait."""
    if launcher.waits_for_workers(pod, runtime) or core_waits_for_driver(pod, runtime):
        return True
    running = runtime.running_on(pods.node_name(pod))
    if _prestarts(pod) and not _driver(pod, running, runtime):
        return True
    validations = {
        container["name"]
        for container in pod["spec"].get("initContainers") or []
        if pods.basename(container.get("image", "")) in images.GPU_VALIDATORS
    }
    return any(name in validations and not met(pod, running, runtime) for name, met in _VALIDATIONS.items())


def fault(pod: Object, runtime: Runtime) -> str | None:
    """Return why the pod's first container ends at once, None when it does not."""
    if pods.basename(pods.image(pod)) in images.SCALE_CORES:
        return core_fault(runtime.nodes.get(pods.node_name(pod)))
    if gpu_exporter.is_exporter(pod):
        return gpu_exporter.fault(runtime, pod)
    if pods.basename(pods.image(pod)) not in images.GPU_DRIVERS:
        return None
    node = runtime.nodes.get(pods.node_name(pod))
    return gpus.driver_fault(runtime.profile(node), pod) if node else None


def _prestarts(pod: Object) -> bool:
    """Return whether an init container searches for the GPUs' driver, and ends once it has found it."""
    return any(
        pods.basename(container.get("image", "")) in images.DRA_DRIVERS
        and _PRESTART in " ".join(container.get("command") or [])
        for container in pod["spec"].get("initContainers") or []
    )


def _driver(pod: Object, running: list[Object], runtime: Runtime) -> bool:
    return gpus.has_driver(runtime.nodes.get(pods.node_name(pod)), running)


def _toolkit(_pod: Object, running: list[Object], _runtime: Runtime) -> bool:
    return any(pods.basename(pods.image(other)) in images.GPU_TOOLKITS for other in running)


def _plugin(_pod: Object, running: list[Object], _runtime: Runtime) -> bool:
    return any(gpus.is_plugin(other) for other in running)


_VALIDATIONS: dict[str, Callable[[Object, list[Object], Runtime], bool]] = {
    "driver-validation": _driver,
    "toolkit-validation": _toolkit,
    "plugin-validation": _plugin,
}
"""Init containers of the GPU operator's pods, by name, and what each waits for."""
