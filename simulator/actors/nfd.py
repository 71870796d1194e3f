"""Node Feature Discovery of OpenShift 4.4: the operator, and the master that labels nodes for its workers."""

from apis import kinds
from apis.kinds import Kind
from hardware.profiles import Profile
from simulator.actors import grants, images, pods, rbac
from simulator.actors.api import Object
from simulator.actors.conditions import same_status, updated
from simulator.actors.informer import Informer, Key, Loop
from simulator.actors.podactor import PodActor, daemon_set, nodes_where, ready
from simulator.actors.rbac import Rule

PREFIX = "feature.node.kubernetes.io/"
MASTER = "nfd-master"
WORKER = "nfd-worker"
NODES = Rule(("",), ("nodes",), ("get", "list", "watch", "patch", "update"))
OPERAND_IMAGE = "quay.io/openshift/origin-node-feature-discovery:4.4"


def feature_labels(profile: Profile | None, node: Object) -> dict[str, str]:
    """Return the labels of a node: its kernel and, from its hardware, the PCI vendors of the classes NFD looks at."""
    info = (node.get("status") or {}).get("nodeInfo") or {}
    found = {PREFIX + "kernel-version.full": info.get("kernelVersion", "")}
    for vendor in profile.pci_vendors if profile else ():
        found[f"{PREFIX}pci-{vendor}.present"] = "true"
    return {name: value for name, value in found.items() if value}


class NfdOperator(PodActor):
    """For every NodeFeatureDiscovery of its namespace: accounts, and DaemonSets of a master and of workers."""

    kind: Kind = kinds.NODE_FEATURE_DISCOVERY_V1ALPHA1
    _resources: Informer
    _daemon_sets: Informer

    def start(self) -> None:
        """Watch the custom resource and what was made for it."""
        loop = self.loop(self._reconcile)
        every = ("", "")
        self._daemon_sets = self.watch(kinds.DAEMON_SET, loop, namespace=self.namespace, key=every)
        self._resources = self.watch(self.kind, loop, namespace=self.namespace, key=every)

    def _reconcile(self, _key: Key) -> None:
        for resource in self._resources.items():
            if not pods.deleting(resource):
                self._install(resource)

    def _install(self, resource: Object) -> None:
        sets = [self._daemon_sets.get(name, self.namespace) for name in (MASTER, WORKER)]
        image = resource["spec"].get("image") or OPERAND_IMAGE
        if any(one is None or one["spec"]["template"]["spec"]["containers"][0]["image"] != image for one in sets):
            self.make(operands(self.namespace, image), resource)
        truth = ready(sets)
        status = {"conditions": updated(resource, Available=(truth, "Ready" if truth else "Progressing"))}
        if not same_status(resource, status):
            self.api.patch(self.kind, resource["metadata"]["name"], {"status": status}, self.namespace, sub="status")


def operands(namespace: str, image: str) -> grants.Grant:
    """Return what the operator makes: the master may label nodes, the worker may nothing but run privileged."""
    return [
        (kinds.SERVICE_ACCOUNT, rbac.service_account(namespace, MASTER)),
        *grants.cluster_wide(MASTER, namespace, MASTER, (NODES,)),
        *grants.account(namespace, WORKER, (rbac.use_scc("privileged"),)),
        daemon_set(namespace, MASTER, _pod(MASTER, "master", image), "NFD operator"),
        daemon_set(namespace, WORKER, _pod(WORKER, "worker", image) | _OF_THE_HOST, "NFD operator"),
    ]


# What a worker sees of its node, and why `restricted` does not do for it.
_OF_THE_HOST = {
    "hostNetwork": True,
    "volumes": [
        {"name": name, "hostPath": {"path": path}}
        for name, path in (("host-boot", "/boot"), ("host-os-release", "/etc/os-release"), ("host-sys", "/sys"))
    ],
}


def _pod(name: str, role: str, image: str) -> Object:
    return {
        "serviceAccountName": name,
        "nodeSelector": {f"node-role.kubernetes.io/{role}": ""},
        "tolerations": [{"key": "node-role.kubernetes.io/master", "operator": "Exists", "effect": "NoSchedule"}],
        "containers": [{"name": name, "image": image, "command": [name]}],
    }


class NfdMaster(PodActor):
    """Labels the nodes where a worker runs. One of several masters acts, as workers talk to one service."""

    _loop: Loop

    def start(self) -> None:
        """Follow the workers: what they find reaches the master directly, not through the API server."""
        self._loop = self.loop(self._label)
        self.runtime.pods.on_change(self._pod_changed)
        self.runtime.nodes.on_change(lambda key, _old, node: self._loop.add(key) if node else None)

    def _pod_changed(self, _key: Key, _old: Object | None, pod: Object | None) -> None:
        if pod is not None and not self.stopped.is_set() and pods.basename(pods.image(pod)) in images.NFD_OPERANDS:
            self._loop.add(("", pods.node_name(pod)))

    def _label(self, key: Key) -> None:
        node = self.runtime.nodes.get(key[1])
        if node is None or key[1] not in nodes_where(self.runtime, images.NFD_OPERANDS, WORKER) or not self._leads():
            return
        wanted = feature_labels(self.runtime.profile(node), node)
        if any(pods.labels(node).get(name) != value for name, value in wanted.items()):
            self.api.patch(kinds.NODE, key[1], {"metadata": {"labels": wanted}})
            self.say(f"labelled {key[1]}: {', '.join(sorted(wanted))}")

    def _leads(self) -> bool:
        masters = nodes_where(self.runtime, images.NFD_OPERANDS, MASTER).values()
        names = [pod["metadata"]["name"] for there in masters for pod in there]
        return bool(min(names, default="") == self.pod["metadata"]["name"])
