"""Node Feature Discovery of today (v1): the operator, whose workers look at what their configuration names."""

from apis import kinds
from simulator.actors import grants, pods, rbac
from simulator.actors.api import Object
from simulator.actors.conditions import same_status, updated
from simulator.actors.informer import Informer, Key
from simulator.actors.nfd_master import CONFIGURATION, MASTER, NODES, WORKER
from simulator.actors.podactor import PodActor, daemon_set, deployment, ready

OPERAND_IMAGE = "registry.redhat.io/openshift4/ose-node-feature-discovery-rhel9:v4.20"
BY = "NFD operator"
MASTERS = ("node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane")


class NfdOperatorToday(PodActor):
    """For every NodeFeatureDiscovery of its namespace: the workers' configuration, a master, workers everywhere."""

    kind = kinds.NODE_FEATURE_DISCOVERY_V1
    _resources: Informer
    _daemon_sets: Informer
    _deployments: Informer
    _made: tuple[str, int] | None = None

    def start(self) -> None:
        """Watch the custom resource and what was made for it."""
        loop = self.loop(self._reconcile)
        every = ("", "")
        self._daemon_sets = self.watch(kinds.DAEMON_SET, loop, namespace=self.namespace, key=every)
        self._deployments = self.watch(kinds.DEPLOYMENT, loop, namespace=self.namespace, key=every)
        self._resources = self.watch(self.kind, loop, namespace=self.namespace, key=every)

    def _reconcile(self, _key: Key) -> None:
        if not (self._resources.synced and self._daemon_sets.synced and self._deployments.synced):
            return
        for resource in self._resources.items():
            if not pods.deleting(resource):
                self._install(resource)

    def _install(self, resource: Object) -> None:
        meta = resource["metadata"]
        if self._daemon_sets.get(MASTER, self.namespace):  # of the operator of 4.4
            self.api.delete(kinds.DAEMON_SET, MASTER, self.namespace)
        workers = self._daemon_sets.get(WORKER, self.namespace)
        master = self._deployments.get(MASTER, self.namespace)
        wanted = (meta["uid"], meta["generation"])
        if self._made != wanted or workers is None or master is None:
            self.make(operands(self.namespace, resource.get("spec") or {}), resource)
            self._made = wanted
        truth = ready([workers]) and master is not None and pods.condition(master, "Available")
        why = "AllInstanceComponentsAreDeployedSuccessfully" if truth else "Progressing"
        conditions = updated(resource, Available=(truth, why), Progressing=(not truth, why), Degraded=(False, why))
        status = {"conditions": conditions}
        if not same_status(resource, status):
            self.api.patch(self.kind, meta["name"], {"status": status}, self.namespace, sub="status")


def operands(namespace: str, spec: Object) -> grants.Grant:
    """Return what the operator makes from the `spec` of a NodeFeatureDiscovery."""
    operand = spec.get("operand") or {}
    image = operand.get("image") or OPERAND_IMAGE
    configuration = (spec.get("workerConfig") or {}).get("configData") or ""
    config_map = {
        "apiVersion": kinds.CONFIG_MAP.api_version,
        "kind": kinds.CONFIG_MAP.kind,
        "metadata": {"name": WORKER, "namespace": namespace},
        "data": {CONFIGURATION: configuration},
    }
    master = {
        "serviceAccountName": MASTER,
        "tolerations": [{"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in MASTERS],
        "containers": [{"name": MASTER, "image": image, "command": [MASTER]}],
    }
    return [
        (kinds.CONFIG_MAP, config_map),
        (kinds.SERVICE_ACCOUNT, rbac.service_account(namespace, MASTER)),
        *grants.cluster_wide(MASTER, namespace, MASTER, (NODES,)),
        *grants.account(namespace, WORKER, ()),
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
    kind = kinds.SECURITY_CONTEXT_CONSTRAINTS
    forbidden = ("HostIPC", "HostNetwork", "HostPID", "HostPorts", "PrivilegeEscalation", "PrivilegedContainer")
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": WORKER},
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
