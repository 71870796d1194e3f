"""Node Feature Discovery of today (v1): the operator, whose workers detect what their configuration names."""

from core.apis import kinds
from toolkit.simulator import pods
from toolkit.simulator.actors import grants
from toolkit.simulator.actors.api import Object, stated
from toolkit.simulator.actors.nfd_master import CONFIGURATION, FEATURES, MASTER, NODES, WORKER, definitions
from toolkit.simulator.actors.podactor import HERE, Operator, ready
from toolkit.simulator.manifests import daemon_set, deployment, manifest

OPERAND_IMAGE = "registry.redhat.io/openshift4/ose-node-feature-discovery-rhel9:v4.20"
BY = "NFD operator"
MASTERS = ("node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane")


class NfdOperatorToday(Operator):
    """For every NodeFeatureDiscovery of its namespace: the workers' configuration, a master, workers everywhere."""

    kind = kinds.NODE_FEATURE_DISCOVERY_V1
    watched = ((kind, HERE), (kinds.DAEMON_SET, HERE), (kinds.DEPLOYMENT, HERE))

    def reconcile(self) -> None:
        """Reconcile what is made for each."""
        for resource in self.objects(self.kind):
            self._install(resource)

    def _install(self, resource: Object) -> None:
        meta = resource["metadata"]
        if self.own(kinds.DAEMON_SET, MASTER):  # of the operator of 4.4
            self.api.delete(kinds.DAEMON_SET, MASTER, self.namespace)
        workers = self.own(kinds.DAEMON_SET, WORKER)
        master = self.own(kinds.DEPLOYMENT, MASTER)
        version = (meta["uid"], meta["generation"])
        if self.installed != version or workers is None or master is None:
            self.make(definitions(self.runtime))
            self.make(operands(self.namespace, resource.get("spec") or {}), resource)
            self.installed = version
        available = ready([workers]) and master is not None and pods.condition(master, "Available")
        why = "AllInstanceComponentsAreDeployedSuccessfully" if available else "Progressing"
        truths = {"Available": available, "Progressing": not available, "Degraded": False}
        conditions = stated(resource, {kind: (str(holds), why, "") for kind, holds in truths.items()})
        self.api.set_status(self.kind, resource, {"conditions": conditions})


def operands(namespace: str, spec: Object) -> grants.Grant:
    """Return what the operator makes from the `spec` of a NodeFeatureDiscovery."""
    operand = spec.get("operand") or {}
    image = operand.get("image") or OPERAND_IMAGE
    configuration = (spec.get("workerConfig") or {}).get("configData") or ""
    master = {
        "serviceAccountName": MASTER,
        "tolerations": [{"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in MASTERS],
        "containers": [{"name": MASTER, "image": image, "command": [MASTER]}],
    }
    return [
        (kinds.CONFIG_MAP, manifest(kinds.CONFIG_MAP, WORKER, namespace, data={CONFIGURATION: configuration})),
        grants.service_account(namespace, MASTER),
        *grants.cluster_wide(MASTER, namespace, MASTER, NODES),
        *grants.account(namespace, WORKER, FEATURES),
        (kinds.SECURITY_CONTEXT_CONSTRAINTS, _scc(namespace)),
        deployment(namespace, MASTER, master, BY),
        daemon_set(namespace, WORKER, _worker(image, operand.get("workerTolerations") or []), BY),
    ]


def _worker(image: str, tolerations: list[Object]) -> Object:
    paths = {"host-boot": "/boot", "host-os-release": "/etc/os-release", "host-sys": "/sys", "host-lib": "/lib"}
    return {
        "serviceAccountName": WORKER,
        "tolerations": [{"operator": "Exists", "effect": "NoSchedule"}, *tolerations],
        "containers": [
            {
                "name": WORKER,
                "image": image,
                "command": [WORKER],
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                    "readOnlyRootFilesystem": True,
                },
                "volumeMounts": [{"name": WORKER, "mountPath": "/etc/kubernetes/node-feature-discovery"}],
            }
        ],
        "volumes": [
            *({"name": name, "hostPath": {"path": path}} for name, path in paths.items()),
            {"name": WORKER, "configMap": {"name": WORKER}},
        ],
    }


def _scc(namespace: str) -> Object:
    """Return the SCC that the operator makes for its workers: they read files of the host."""
    forbidden = ("HostIPC", "HostNetwork", "HostPID", "HostPorts", "PrivilegeEscalation", "PrivilegedContainer")
    fields: Object = {
        "allowHostDirVolumePlugin": True,
        **{f"allow{what}": False for what in forbidden},
        "allowedCapabilities": None,
        "defaultAddCapabilities": None,
        "fsGroup": {"type": "MustRunAs"},
        "groups": [],
        "priority": None,
        "readOnlyRootFilesystem": True,
        "requiredDropCapabilities": ["ALL"],
        "runAsUser": {"type": "RunAsAny"},
        "seLinuxContext": {"type": "MustRunAs"},
        "seccompProfiles": ["*"],
        "supplementalGroups": {"type": "RunAsAny"},
        "users": [f"system:serviceaccount:{namespace}:{WORKER}"],
        "volumes": ["*"],
    }
    return manifest(kinds.SECURITY_CONTEXT_CONSTRAINTS, WORKER, **fields)
