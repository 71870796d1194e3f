"""NVIDIA's plugin for dynamic resource allocation on one node: what it publishes, and labels, at its start.

A pod has a container for GPUs, one for ComputeDomains, or both. Like the real one it reads the GPUs once: after a
change the pod has to be started again. The kubelet deletes what it published when it stays away (`resource_claims`).
"""

from collections.abc import Iterator

from core.apis import kinds
from core.apis.devices import COMPUTE_DOMAIN_DRIVER, GPU_DRIVER
from core.apis.names import GPU_CLIQUE
from toolkit.simulator import names, pods
from toolkit.simulator.actors import job_inputs, mig, pod_devices
from toolkit.simulator.actors.api import ApiError, Object
from toolkit.simulator.actors.compute_domain_driver import ComputeDomainDriver
from toolkit.simulator.actors.informer import Key
from toolkit.simulator.actors.podactor import EVERY, PodActor
from toolkit.simulator.actors.podlogs import PodLogs
from toolkit.simulator.actors.resource_drivers import GpuDriver, ResourceDriver
from toolkit.simulator.actors.resource_slices import GpuNode, domain_devices, gpu_devices, resource_slice
from toolkit.simulator.actors.runtime import Runtime

PROGRAMS = {GPU_DRIVER: "gpu-kubelet-plugin", COMPUTE_DOMAIN_DRIVER: "compute-domain-kubelet-plugin"}
"""Driver -> the program of the image that is its plugin."""
LABELS_CLIQUE = "GPU_CLIQUE_LABEL_ENABLED"
"""Variable by which the plugin for ComputeDomains labels its node with the clique; off where it is not set."""


class KubeletPlugin(PodActor):
    """Publishes its node's devices, and registers its drivers with the node's kubelet."""

    def __init__(self, runtime: Runtime, logs: PodLogs, pod: Object) -> None:
        super().__init__(runtime, logs, pod)
        self.node = pods.node_name(pod)
        self._drivers: dict[str, ResourceDriver] = {}

    def start(self) -> None:
        """Publish in the background."""
        self.loop(self._publish).add(EVERY)

    def stop(self) -> None:
        """Leave the kubelet; the clique's label goes at once, the devices later."""
        super().stop()
        for driver, own in self._drivers.items():
            # The next pod's may be there already.
            if self.runtime.resource_drivers.get((self.node, driver)) is own:
                del self.runtime.resource_drivers[self.node, driver]
        meta = self.pod["metadata"]
        pod = self.runtime.pods.get(meta["name"], meta["namespace"])
        if _labels_clique(self.pod) and not (pod is not None and pods.runs(pod)):
            # The real one does so before it ends, when its token is still valid. A pod that runs is only simulated no
            # longer.
            try:
                self.runtime.kubelet.patch(kinds.NODE, self.node, {"metadata": {"labels": {GPU_CLIQUE: None}}})
            except ApiError as error:
                self.log_line(f"E error removing {GPU_CLIQUE} node label: {error}")

    def _publish(self, _key: Key) -> None:
        node = self.api.get(kinds.NODE, self.node)
        for driver in containers(self.pod):
            devices = self._gpus(node) if driver == GPU_DRIVER else domain_devices()
            if driver == COMPUTE_DOMAIN_DRIVER:
                self._label(node)
            self._drivers[driver] = self._driver(driver, devices)
            self.runtime.resource_drivers[self.node, driver] = self._drivers[driver]
            self._write(node, driver, devices)

    def _driver(self, driver: str, devices: list[Object]) -> ResourceDriver:
        if driver == GPU_DRIVER:
            return GpuDriver({device["name"] for device in devices})
        here = self.runtime.present_on(self.node)
        prepared = (
            device for pod in here for device in pod_devices.devices(pod) if device.driver == COMPUTE_DOMAIN_DRIVER
        )
        domains = ComputeDomainDriver(self.api, self.node, self.namespace, prepared)
        domains.forget()
        return domains

    def _gpus(self, node: Object) -> list[Object]:
        machine = job_inputs.machine(node, self.runtime)
        if machine.profile is None or not machine.has_driver:
            return []
        layout = mig.layout(machine.profile, node)
        return gpu_devices(GpuNode(self.node, machine.profile, machine.driver, layout))

    def _label(self, node: Object) -> None:
        clique = pods.annotations(node).get(names.NVLINK_CLIQUE)
        if clique and _labels_clique(self.pod):
            self.api.patch(kinds.NODE, self.node, {"metadata": {"labels": {GPU_CLIQUE: clique}}})

    def _write(self, node: Object, driver: str, devices: list[Object]) -> None:
        """Create the slice of a driver, or raise its generation where the devices have changed."""
        fields = f"spec.driver={driver},spec.nodeName={self.node}"
        first, *others = self.api.list(kinds.RESOURCE_SLICE, fields=fields)["items"] or [None]
        for other in others:
            self.api.delete(kinds.RESOURCE_SLICE, other["metadata"]["name"])
        if first is None:
            self.api.create(kinds.RESOURCE_SLICE, resource_slice(node, driver, devices))
        elif first["spec"].get("devices") != devices:
            generation = first["spec"]["pool"]["generation"] + 1
            spec = resource_slice(node, driver, devices, generation)["spec"]
            first["spec"] |= spec
            self.api.replace(kinds.RESOURCE_SLICE, first)
        self.log_line(f"{driver}: published {len(devices)} devices of {self.node} (simulated)")


def containers(pod: Object) -> dict[str, Object]:
    """Return the containers of a plugin's pod by the driver that each is the plugin of."""
    return dict(_containers(pod))


def _containers(pod: Object) -> Iterator[tuple[str, Object]]:
    for container in pod["spec"]["containers"]:
        words = " ".join([*(container.get("command") or []), *(container.get("args") or [])])
        for driver, program in PROGRAMS.items():
            if program in words:
                yield driver, container


def _labels_clique(pod: Object) -> bool:
    container = containers(pod).get(COMPUTE_DOMAIN_DRIVER, {})
    return variables(container).get(LABELS_CLIQUE) == "true"


def variables(container: Object) -> dict[str, str]:
    """Return the variables of a container that have a value of their own."""
    return {entry["name"]: str(entry["value"]) for entry in container.get("env") or [] if "value" in entry}
