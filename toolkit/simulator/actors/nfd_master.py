"""Node Feature Discovery's master, the real one: it labels nodes by the NodeFeatures of its workers, and by rules."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from core.apis import kinds
from toolkit.engine.tools.versions import NFD
from toolkit.simulator import pods
from toolkit.simulator.access.rbac import OWN, READ, Rule
from toolkit.simulator.actors import job_manifests
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.controllers import Controller
from toolkit.simulator.actors.informer import Key, Loop
from toolkit.simulator.actors.podactor import EVERY, PodActor
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
WITHOUT_PAGES = "informerPageSize: 0"
"""With pages (200 by default) a watch of NodeFeatures that is refused as too old is never taken up again: its reflector
then lists at exactly the version that was refused, until that is compacted. Seen for 8 minutes on a new cluster."""
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
    _acting: ClassVar[dict[str, PodActor]] = {}
    """Namespace -> the master that acts there."""
    _turn: Loop

    @cached_property
    def port(self) -> int:
        """Where it serves its health check."""
        return ports.free()

    def start(self) -> None:
        """Start once no other master of the namespace acts."""
        self._turn = self.loop(self._take_turn)
        self.runtime.pods.on_change(self._changed)
        self._turn.add(EVERY)

    def _changed(self, _key: Key, old: Object | None, pod: Object | None) -> None:
        if not self.stopped.is_set() and MASTER in pods.command(pod or old or {}):
            self._turn.add(EVERY)

    def _take_turn(self, _key: Key) -> None:
        acting = self._acting.get(self.namespace)
        if acting is None or acting.stopped.is_set():
            self._acting[self.namespace] = self
            super().start()

    @property
    def environment(self) -> Mapping[str, str]:
        """What a container has from its pod; NodeFeatures of its own namespace come before others."""
        return {"KUBERNETES_NAMESPACE": self.namespace, "NODE_NAME": pods.node_name(self.pod)}

    def command(self, kubeconfig: Path) -> list[str | Path]:
        """Return the arguments."""
        self.log_line(f"real: nfd-master {NFD} on a simulated cluster, in place of the image {pods.image(self.pod)}")
        return ["-kubeconfig", kubeconfig, "-port", str(self.port), "-options", WITHOUT_PAGES]
