"""The kubelet's device manager: a node offers what the device plugins whose pods run there offer, and no longer."""

import json
import logging

from core.apis import kinds
from toolkit.simulator import names, pods
from toolkit.simulator.actors import devices, images
from toolkit.simulator.actors.api import ApiError, Object
from toolkit.simulator.actors.informer import Key, Loop
from toolkit.simulator.actors.runtime import Runtime

log = logging.getLogger(__name__)

FOLDERS = {
    **dict.fromkeys(images.RDMA_PLUGINS, "/k8s-rdma-shared-dev-plugin"),
    **dict.fromkeys(images.SRIOV_PLUGINS, "/etc/pcidp"),
}
"""Folders in which plugins read their configuration, by image."""
FILE = "config.json"
RELEVANT = images.RDMA_PLUGINS | images.SRIOV_PLUGINS | images.GPU_PLUGINS | images.GPU_DRIVERS


class DevicePlugins:
    """Patches `capacity` and `allocatable` of nodes, and reads plugins' configuration when their pods start."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._nodes = Loop("device plugins", self._advertise)
        self._plugins = Loop("rdma plugin", self._start_plugin)

    def start(self) -> None:
        """Start; the runtime's caches must be in."""
        self._nodes.start()
        self._plugins.start()
        self._runtime.nodes.on_change(lambda key, _old, node: self._nodes.add(key) if node else None)
        self._runtime.pods.on_change(self._pod_changed)

    def _pod_changed(self, key: Key, old: Object | None, pod: Object | None) -> None:
        was, now = old is not None and pods.runs(old), pod is not None and pods.runs(pod)
        version = pod or old
        if version is None or not (was or now):
            return
        program = pods.basename(pods.image(version))
        if program in FOLDERS and pod is not None:
            self._plugins.add(key)
        if program in RELEVANT:
            self._nodes.add(("", pods.node_name(version)))

    def _advertise(self, key: Key) -> None:
        node = self._runtime.nodes.get(key[1])
        if node is None or self._runtime.is_lost(key[1]):
            return
        resources = devices.offered(self._runtime.profile(node), node, self._runtime.running_on(key[1]))
        if patch := devices.capacity_patch(node, resources):
            self._runtime.kubelet.patch(kinds.NODE, key[1], patch, sub="status")
            log.info("%s offers %s", key[1], patch["status"]["allocatable"])

    def _start_plugin(self, key: Key) -> None:
        """Read the configuration once, as the plugin does: a later change needs a new pod."""
        namespace, name = key
        pod = self._runtime.pods.get(name, namespace)
        if pod is None or not pods.runs(pod) or names.RDMA_CONFIG in pods.annotations(pod):
            return
        try:
            offered, ports = self._configured(pod)
            changes = {
                names.RDMA_CONFIG: json.dumps(offered, sort_keys=True),
                names.RDMA_DEVICES: json.dumps(ports, sort_keys=True),
            }
        except ValueError as error:
            log.warning("%s/%s ends: %s", namespace, name, error)
            changes = {names.EXIT_CODE: "1", names.RUN_FOR: "0s", names.TERMINATION_MESSAGE: str(error)}
        try:
            self._runtime.kubelet.annotate(kinds.POD, name, dict(changes), namespace)
        except ApiError as error:
            if not error.missing:
                raise

    def _configured(self, pod: Object) -> tuple[dict[str, int], dict[str, list[str]]]:
        """Return resource name -> number that is offered, and -> the interfaces of the node that are behind it."""
        program = pods.basename(pods.image(pod))
        text = self._mounted(pod, FOLDERS[program])
        node = self._runtime.nodes.get(pods.node_name(pod))
        interfaces, _ = devices.ports(self._runtime.profile(node), node) if node else (set(), set())
        if program in images.RDMA_PLUGINS:
            return devices.rdma_resources(text), devices.rdma_interfaces(text, interfaces)
        whole = devices.host_devices(text, interfaces)
        return {name: len(ports) for name, ports in whole.items()}, whole

    def _mounted(self, pod: Object, folder: str) -> str:
        """Return the text of config.json as the pod sees it; read from the server, since a cache may lag behind."""
        container = pod["spec"]["containers"][0]
        mounts = {mount["mountPath"].rstrip("/"): mount["name"] for mount in container.get("volumeMounts") or []}
        for volume in pod["spec"].get("volumes") or []:
            if volume["name"] == mounts.get(folder) and "configMap" in volume:
                config_map = self._runtime.kubelet.find(
                    kinds.CONFIG_MAP, volume["configMap"]["name"], pod["metadata"]["namespace"]
                )
                text: str | None = ((config_map or {}).get("data") or {}).get(FILE)
                if text is not None:
                    return text
        raise ValueError(f"open {folder}/{FILE}: no such file or directory")
