"""Node Feature Discovery of OpenShift 4.4: the operator."""

import json

from core.apis import kinds
from toolkit.simulator.access import rbac
from toolkit.simulator.actors import grants
from toolkit.simulator.actors.api import Object, stated
from toolkit.simulator.actors.nfd_master import CONFIGURATION, FEATURES, MASTER, NODES, WORKER, definitions
from toolkit.simulator.actors.podactor import HERE, Operator, ready
from toolkit.simulator.manifests import daemon_set, manifest

OPERAND_IMAGE = "quay.io/openshift/origin-node-feature-discovery:4.4"
PCI = {"deviceLabelFields": ["vendor"], "deviceClassWhitelist": ["0200", "03", "12"]}
"""What its workers label: adapters in Ethernet mode, GPUs, accelerators, and no port in InfiniBand mode (0207).

Source: openshift/cluster-nfd-operator, branch release-4.4, assets/worker/0600_worker_configmap.yaml.
"""


class NfdOperator(Operator):
    """For every NodeFeatureDiscovery of its namespace: accounts, DaemonSets of a master and of workers, their PCI."""

    kind = kinds.NODE_FEATURE_DISCOVERY_V1ALPHA1
    watched = ((kind, HERE), (kinds.DAEMON_SET, HERE))

    def reconcile(self) -> None:
        """Reconcile what is made for each."""
        for resource in self.objects(self.kind):
            self._install(resource)

    def _install(self, resource: Object) -> None:
        sets = [self.own(kinds.DAEMON_SET, name) for name in (MASTER, WORKER)]
        image = resource["spec"].get("image") or OPERAND_IMAGE
        if any(
            member is None or member["spec"]["template"]["spec"]["containers"][0]["image"] != image for member in sets
        ):
            self.make(definitions(self.runtime))
            self.make(operands(self.namespace, image), resource)
        available = ready(sets)
        conditions = stated(resource, {"Available": (str(available), "Ready" if available else "Progressing", "")})
        self.api.set_status(self.kind, resource, {"conditions": conditions})


def operands(namespace: str, image: str) -> grants.Grant:
    """Return what the operator makes: the master may label nodes, the worker may nothing but run privileged."""
    configuration = json.dumps({"sources": {"pci": PCI}})
    return [
        grants.service_account(namespace, MASTER),
        *grants.cluster_wide(MASTER, namespace, MASTER, NODES),
        *grants.account(namespace, WORKER, (*FEATURES, rbac.use_scc("privileged"))),
        (kinds.CONFIG_MAP, manifest(kinds.CONFIG_MAP, WORKER, namespace, data={CONFIGURATION: configuration})),
        daemon_set(namespace, MASTER, _pod(MASTER, "master", image), "NFD operator"),
        daemon_set(namespace, WORKER, _pod(WORKER, "worker", image) | _OF_THE_HOST, "NFD operator"),
    ]


# What a worker sees of its node, and why `restricted` does not do for it.
_OF_THE_HOST = {
    "hostNetwork": True,
    "volumes": [
        *(
            {"name": name, "hostPath": {"path": path}}
            for name, path in (("host-boot", "/boot"), ("host-os-release", "/etc/os-release"), ("host-sys", "/sys"))
        ),
        {"name": "config", "configMap": {"name": WORKER}},
    ],
}


def _pod(name: str, role: str, image: str) -> Object:
    return {
        "serviceAccountName": name,
        "nodeSelector": {f"node-role.kubernetes.io/{role}": ""},
        "tolerations": [{"key": "node-role.kubernetes.io/master", "operator": "Exists", "effect": "NoSchedule"}],
        "containers": [{"name": name, "image": image, "command": [name]}],
    }
