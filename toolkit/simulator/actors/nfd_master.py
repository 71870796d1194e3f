"""Node Feature Discovery's master, the real one: it labels nodes by the NodeFeatures of its workers, and by rules."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from core.apis import kinds
from toolkit.engine.tools.table import NFD
from toolkit.simulator import pods
from toolkit.simulator.access.rbac import OWN, READ, Rule
from toolkit.simulator.actors import images, job_manifests
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.controllers import Controller
from toolkit.simulator.actors.informer import Key, Loop
from toolkit.simulator.actors.podactor import nodes_where
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.processes import ports

MASTER = "nfd-master"
WORKER = "nfd-worker"
CONFIGURATION = "nfd-worker-conf"
"""Key of the worker's configuration in the ConfigMap that the operator makes (openshift/cluster-nfd-operator)."""
GROUP = "nfd.k8s-sigs.io"
NODES = (
    Rule(("",), ("namespaces",), READ),
    Rule(("",), ("nodes", "nodes/status"), (*READ, "patch", "update")),
    Rule((GROUP,), ("nodefeatures", "nodefeaturerules", "nodefeaturegroups"), READ),
    Rule((GROUP,), ("nodefeaturegroups/status",), ("patch", "update")),
)
"""Rights of a master (deployment/base/rbac of Node Feature Discovery)."""
FEATURES = (
    Rule((GROUP,), ("nodefeatures",), ("create", "get", "update", "delete")),
    Rule(("",), ("pods",), ("get",)),
)
"""Rights of a worker, in its own namespace (the same)."""
OPERATOR_RULES = (
    *NODES,
    *FEATURES,
    Rule((kinds.CUSTOM_RESOURCE_DEFINITION.group,), (kinds.CUSTOM_RESOURCE_DEFINITION.plural,), OWN),
)
"""Rights of an operator that makes both, and their kinds."""


def definitions(runtime: Runtime) -> list[tuple[kinds.Kind, Object]]:
    """Return the kinds by which workers and rules reach the master; none where the cluster has no tool."""
    folder = runtime.settings.tools.get("nfd-crds")
    if folder is None:
        return []
    return [(kinds.CUSTOM_RESOURCE_DEFINITION, definition) for definition in job_manifests.definitions(folder)]


class NfdMaster(Controller):
    """Runs `nfd-master`. Of several masters one acts: in 2020 there was one on each node of the control plane."""

    tool = "nfd-master"
    _turn: Loop
    _started = False

    @cached_property
    def port(self) -> int:
        """Where it serves its health check."""
        return ports.free()

    def start(self) -> None:
        """Start once no other master acts."""
        self._turn = self.loop(self._take_turn)
        self.runtime.pods.on_change(self._changed)
        self._turn.add(("", ""))

    def _changed(self, _key: Key, _old: Object | None, pod: Object | None) -> None:
        if not self._started and not self.stopped.is_set() and (pod is None or MASTER in pods.command(pod)):
            self._turn.add(("", ""))

    def _take_turn(self, _key: Key) -> None:
        masters = nodes_where(self.runtime, images.NFD_OPERANDS, MASTER).values()
        names = [pod["metadata"]["name"] for group in masters for pod in group]
        if not self._started and min(names, default="") == self.pod["metadata"]["name"]:
            self._started = True
            super().start()

    @property
    def environment(self) -> Mapping[str, str]:
        """Where its own NodeFeatures are: they come before those of others."""
        return {"KUBERNETES_NAMESPACE": self.namespace}

    def command(self, kubeconfig: Path) -> list[str | Path]:
        """Return the arguments."""
        self.log_line(f"real: nfd-master {NFD} on a simulated cluster, in place of the image {pods.image(self.pod)}")
        return ["-kubeconfig", kubeconfig, "-port", str(self.port)]
