"""Node Feature Discovery's master, which labels nodes for its workers: of 2020 and of today."""

from core.apis import kinds
from toolkit.simulator import pods
from toolkit.simulator.access.rbac import Rule
from toolkit.simulator.actors import features, images, mig
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.devices import MIG_STRATEGY
from toolkit.simulator.actors.informer import Key, Loop
from toolkit.simulator.actors.podactor import PodActor, nodes_where

MASTER = "nfd-master"
WORKER = "nfd-worker"
NODES = Rule(("",), ("nodes",), ("get", "list", "watch", "patch", "update"))
CONFIGURATION = "nfd-worker-conf"
"""Key of the worker's configuration in the ConfigMap that the operator makes (openshift/cluster-nfd-operator)."""
OWN = "nfd.node.kubernetes.io/feature-labels"
"""Annotation of a node: the labels that are the master's own."""
RELEVANT = images.NFD_OPERANDS | images.GPU_PLUGINS


class NfdMaster(PodActor):
    """Labels the nodes where a worker runs. One of several masters acts, as workers talk to one service.

    What GPU feature discovery finds it gives to the worker on its node.
    """

    _loop: Loop

    def start(self) -> None:
        """Follow the workers: what they find reaches the master directly, not through the API server."""
        self._loop = self.loop(self._label)
        self.runtime.pods.on_change(self._pod_changed)
        self.runtime.nodes.on_change(lambda key, _old, node: self._loop.add(key) if node else None)
        self.runtime.config_maps.on_change(self._configured)

    def _pod_changed(self, _key: Key, _old: Object | None, pod: Object | None) -> None:
        if pod is not None and not self.stopped.is_set() and pods.basename(pods.image(pod)) in RELEVANT:
            self._loop.add(("", pods.node_name(pod)))

    def _configured(self, key: Key, _old: Object | None, _new: Object | None) -> None:
        if key == (self.namespace, WORKER) and not self.stopped.is_set():
            for node in self.runtime.nodes.items():
                self._loop.add(("", node["metadata"]["name"]))

    def _label(self, key: Key) -> None:
        node = self.runtime.nodes.get(key[1])
        workers = self._pods_running(key[1], images.NFD_OPERANDS, WORKER)
        if node is None or not workers:
            return
        configuration = self._configuration(workers[0])
        if configuration is None:
            return
        try:
            features_here = self._features(node, configuration)
        except ValueError as error:
            self.log_line(f"{key[1]}: {error}")
            return
        own = [name for name in pods.annotations(node).get(OWN, "").split(",") if name]
        labels: dict[str, str | None] = {name: None for name in own if name not in features_here} | features_here
        same = set(own) == set(features_here) and all(
            pods.labels(node).get(name) == value for name, value in labels.items()
        )
        if not same and self._leads():
            note = {OWN: ",".join(sorted(features_here))}
            self.api.patch(kinds.NODE, key[1], {"metadata": {"labels": labels, "annotations": note}})
            self.log_line(f"labelled {key[1]}: {', '.join(sorted(features_here))}")

    def _features(self, node: Object, configuration: str) -> dict[str, str]:
        profile = self.runtime.profile(node)
        labels = features.kernel_labels(node) | features.pci_labels(profile, configuration)
        for pod in self._pods_running(node["metadata"]["name"], images.GPU_PLUGINS, images.FEATURE_DISCOVERY):
            strategy = pods.variable(pod, MIG_STRATEGY) or "none"
            labels |= features.gpu_labels(profile, strategy, mig.layout(profile, node))
        return labels

    def _pods_running(self, node: str, programs: frozenset[str], part: str) -> list[Object]:
        running = self.runtime.running_on(node)
        return [pod for pod in running if pods.basename(pods.image(pod)) in programs and part in pods.command(pod)]

    def _configuration(self, worker: Object) -> str | None:
        """Return what a worker reads; "" where it mounts no ConfigMap, None where that is gone: it has what it read."""
        if not any("configMap" in volume for volume in worker["spec"].get("volumes") or []):
            return ""
        config_map = self.runtime.config_maps.get(WORKER, self.namespace)
        if config_map is None:
            return None
        text: str = (config_map.get("data") or {}).get(CONFIGURATION, "")
        return text

    def _leads(self) -> bool:
        masters = nodes_where(self.runtime, images.NFD_OPERANDS, MASTER).values()
        names = [pod["metadata"]["name"] for group in masters for pod in group]
        return bool(min(names, default="") == self.pod["metadata"]["name"])
