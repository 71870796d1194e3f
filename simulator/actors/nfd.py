"""Node Feature Discovery of OpenShift 4.4: the operator."""

from apis import kinds
from apis.kinds import Kind
from simulator.actors import grants, pods, rbac
from simulator.actors.api import Object
from simulator.actors.conditions import same_status, updated
from simulator.actors.informer import Informer, Key
from simulator.actors.nfd_master import MASTER, NODES, WORKER
from simulator.actors.podactor import PodActor, daemon_set, ready

OPERAND_IMAGE = "quay.io/openshift/origin-node-feature-discovery:4.4"


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
