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
        workers = self._here(key[1], images.NFD_OPERANDS, WORKER)
        if node is None or not workers:
            return
        configuration = self._configuration(workers[0])
        if configuration is None:
            return
        try:
            wanted = self._found(node, configuration)
        except ValueError as error:
            self.say(f"{key[1]}: {error}")
            return
        own = [name for name in pods.annotations(node).get(OWN, "").split(",") if name]
        labels: dict[str, str | None] = {name: None for name in own if name not in wanted} | wanted
        same = set(own) == set(wanted) and all(pods.labels(node).get(name) == value for name, value in labels.items())
        if not same and self._leads():
            note = {OWN: ",".join(sorted(wanted))}
            self.api.patch(kinds.NODE, key[1], {"metadata": {"labels": labels, "annotations": note}})
            self.say(f"labelled {key[1]}: {', '.join(sorted(wanted))}")

    def _found(self, node: Object, configuration: str) -> dict[str, str]:
        profile = self.runtime.profile(node)
        found = features.kernel_labels(node) | features.pci_labels(profile, configuration)
        for pod in self._here(node["metadata"]["name"], images.GPU_PLUGINS, images.FEATURE_DISCOVERY):
            strategy = pods.variable(pod, MIG_STRATEGY) or "none"
            found |= features.gpu_labels(profile, strategy, mig.layout(profile, node))
        return found

    def _here(self, node: str, known: frozenset[str], part: str) -> list[Object]:
        there = self.runtime.running_on(node)
        return [pod for pod in there if pods.basename(pods.image(pod)) in known and part in pods.command(pod)]

    def _configuration(self, worker: Object) -> str | None:
        """Return what a worker reads; "" where it mounts no ConfigMap, None where that is gone: it has what it read."""
        if not any("configMap" in volume for volume in worker["spec"].get("volumes") or []):
            return ""
        there = self.runtime.config_maps.get(WORKER, self.namespace)
        if there is None:
            return None
        text: str = (there.get("data") or {}).get(CONFIGURATION, "")
        return text

    def _leads(self) -> bool:
        masters = nodes_where(self.runtime, images.NFD_OPERANDS, MASTER).values()
        names = [pod["metadata"]["name"] for there in masters for pod in there]
        return bool(min(names, default="") == self.pod["metadata"]["name"])
