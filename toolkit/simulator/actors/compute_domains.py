"""ComputeDomains: NVIDIA's real controller of them, and the simulated daemons that it puts onto nodes.

A daemon here starts no nvidia-imex: it is ready as soon as its pod is. Source: dra-driver-nvidia-gpu v0.5.0,
cmd/compute-domain-daemon.
"""

import shutil
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from core.apis import kinds
from core.apis.names import COMPUTE_DOMAIN, COMPUTE_DOMAIN_CLIQUE, SIMULATED
from toolkit.engine.tools.table import DRA_TOOLS
from toolkit.engine.tools.versions import DRA_DRIVER
from toolkit.simulator import names, pods
from toolkit.simulator.actors.api import ApiError, Object
from toolkit.simulator.actors.compute_domain_driver import READY
from toolkit.simulator.actors.controllers import Controller
from toolkit.simulator.actors.dra_plugin import variables
from toolkit.simulator.actors.informer import Key
from toolkit.simulator.actors.podactor import EVERY, PodActor
from toolkit.simulator.manifests import manifest

TOOL, FILES = DRA_TOOLS
AGAIN = 5.0
"""Seconds after which a daemon for which a clique has no place looks for one again."""
MOST_NODES = 18
"""Of a clique, where the pod has no variable for it: the compute trays of a rack."""
_LISTENS = ("HTTP_ENDPOINT", "METRICS_PATH", "PPROF_PATH")
"""Variables by which the controller would listen, in its container on all interfaces."""


class ComputeDomainController(Controller):
    """Runs `compute-domain-controller` in a folder that has the templates that its image has at the root."""

    tool = TOOL

    def command(self, kubeconfig: Path) -> list[str | Path]:
        """Return the arguments of its container, once the templates are complete."""
        self.log_line(f"real: compute-domain-controller {DRA_DRIVER}, in place of the image {pods.image(self.pod)}")
        for file in self.runtime.settings.tools[FILES].glob("*.tmpl.yaml"):
            shutil.copyfile(file, self.folder / file.name)
        return ["--kubeconfig", kubeconfig, "-v", self._variables.get("LOG_VERBOSITY", "0")]

    @cached_property
    def environment(self) -> Mapping[str, str]:
        """The variables of its container, with its name and namespace."""
        kept = {name: value for name, value in self._variables.items() if name not in _LISTENS}
        return {**kept, "POD_NAME": self.pod["metadata"]["name"], "NAMESPACE": self.namespace}

    @cached_property
    def _variables(self) -> dict[str, str]:
        return variables(self.pod["spec"]["containers"][0])


class ComputeDomainDaemon(PodActor):
    """Writes itself into the clique of its ComputeDomain and of its node's GPUs; without a clique it has no part."""

    def start(self) -> None:
        """Join in the background."""
        self.loop(self._join).add(EVERY)

    def _join(self, _key: Key) -> float | None:
        meta = self.pod["metadata"]
        node = self.runtime.nodes.get(pods.node_name(self.pod)) or {"metadata": {}}
        clique = pods.annotations(node).get(names.NVLINK_CLIQUE, "")
        label = {"metadata": {"labels": {COMPUTE_DOMAIN_CLIQUE: clique}}}
        self.api.patch(kinds.POD, meta["name"], label, self.namespace)
        if not clique:
            self.log_line("no cliqueID: skipping controller and IMEX daemon management")
            return None
        domain = pods.labels(self.pod)[COMPUTE_DOMAIN]
        name = f"{domain}.{clique}"
        found = self.api.find(kinds.COMPUTE_DOMAIN_CLIQUE, name, self.namespace) or self._created(name, domain, clique)
        limit = int(variables(self.pod["spec"]["containers"][0]).get("MAX_NODES_PER_IMEX_DOMAIN", MOST_NODES))
        try:
            joined = with_daemon(found, self.pod, clique, limit)
        except IndexError as error:
            self.log_line(f"E error getting next available index: {error}")
            return AGAIN
        # Two daemons may write at once: the later one is refused, and tries again.
        self.api.replace(kinds.COMPUTE_DOMAIN_CLIQUE, joined)
        self.log_line(f"{SIMULATED}: joined CDClique {name}; no nvidia-imex was started")
        return None

    def _created(self, name: str, domain: str, clique: str) -> Object:
        labels = {COMPUTE_DOMAIN: domain, COMPUTE_DOMAIN_CLIQUE: clique}
        body = manifest(kinds.COMPUTE_DOMAIN_CLIQUE, name, self.namespace, labels=labels, owners=[_owner(self.pod)])
        try:
            return self.api.create(kinds.COMPUTE_DOMAIN_CLIQUE, body, self.namespace)
        except ApiError as error:
            if not error.conflict:
                raise
            return self.api.get(kinds.COMPUTE_DOMAIN_CLIQUE, name, self.namespace)


def with_daemon(clique: Object, pod: Object, clique_id: str, limit: int) -> Object:
    """Return a clique with the daemon of a pod, at the lowest free index; raise IndexError where it has `limit`."""
    node, address = pods.node_name(pod), str((pod.get("status") or {}).get("podIP"))
    daemons = [daemon for daemon in clique.get("daemons") or [] if daemon["nodeName"] != node]
    before = next((daemon for daemon in clique.get("daemons") or [] if daemon["nodeName"] == node), None)
    taken = {daemon["index"] for daemon in daemons}
    index = before["index"] if before else next((number for number in range(limit) if number not in taken), None)
    if index is None:
        raise IndexError(f"no available indices within maxNodesPerIMEXDomain ({limit})")
    own = {"nodeName": node, "ipAddress": address, "cliqueID": clique_id, "index": index, "status": READY}
    owners = clique["metadata"].get("ownerReferences") or []
    if all(owner["uid"] != pod["metadata"]["uid"] for owner in owners):
        owners = [*owners, _owner(pod)]
    meta = {**clique["metadata"], "ownerReferences": owners}
    return {**clique, "metadata": meta, "daemons": [*daemons, own]}


def _owner(pod: Object) -> Object:
    meta = pod["metadata"]
    return {"apiVersion": kinds.POD.api_version, "kind": kinds.POD.kind, "name": meta["name"], "uid": meta["uid"]}
