"""IBM Spectrum Scale CSI operator 2.0: the CSI driver's object, its sidecars and the driver on every client node."""

from apis import kinds
from simulator.actors import grants, pods, rbac, sim_kinds
from simulator.actors.api import Object
from simulator.actors.conditions import same_status, updated
from simulator.actors.informer import Informer, Key
from simulator.actors.podactor import PodActor, daemon_set, ready

DRIVER = "spectrumscale.csi.ibm.com"
NAME = "ibm-spectrum-scale-csi"
SIDECARS = {
    "attacher": "quay.io/k8scsi/csi-attacher:v2.1.1",
    "provisioner": "quay.io/k8scsi/csi-provisioner:v1.5.0",
}
DRIVER_IMAGE = "quay.io/ibm-spectrum-scale/ibm-spectrum-scale-csi-driver:v2.0.0"
SCC = "spectrum-scale-csiaccess"
SIDECAR_ACCOUNTS = ("attacher", "provisioner", "snapshotter", "resizer")
KUBELET_PLUGINS = "/var/lib/kubelet/plugins"
REGISTRAR_IMAGE = "quay.io/k8scsi/csi-node-driver-registrar:v1.2.0"


class ScaleCsiOperator(PodActor):
    """For every CSIScaleOperator of its namespace: CSIDriver, two sidecar StatefulSets and the driver's DaemonSet."""

    kind = kinds.CSI_SCALE_OPERATOR
    _resources: Informer
    _daemon_sets: Informer
    _made: tuple[str, int] | None = None
    """Which version of which custom resource was acted on last."""

    def start(self) -> None:
        """Watch the custom resource and the driver's DaemonSet."""
        loop = self.loop(self._reconcile)
        every = ("", "")
        self._daemon_sets = self.watch(kinds.DAEMON_SET, loop, namespace=self.namespace, key=every)
        self._resources = self.watch(self.kind, loop, namespace=self.namespace, key=every)

    def _reconcile(self, _key: Key) -> None:
        if not self._resources.synced:
            return
        there = [one for one in self._resources.items() if not pods.deleting(one)]
        for resource in there:
            self._install(resource)
        if not there and self.api.find(sim_kinds.CSI_DRIVER, DRIVER):
            self.api.delete(sim_kinds.CSI_DRIVER, DRIVER)

    def _install(self, resource: Object) -> None:
        meta = resource["metadata"]
        wanted = (meta["uid"], meta["generation"])
        if self._made != wanted or self._daemon_sets.get(NAME, self.namespace) is None:
            self.make(operands(self.namespace, resource["spec"]), resource)
            self._made = wanted
        truth = ready([self._daemon_sets.get(NAME, self.namespace)])
        status = {"conditions": updated(resource, Success=(truth, "CSIReady" if truth else "CSIProgressing"))}
        if not same_status(resource, status):
            self.api.patch(self.kind, meta["name"], {"status": status}, self.namespace, sub="status")


def operands(namespace: str, spec: Object) -> grants.Grant:
    """Return what the operator makes from the `spec` of a CSIScaleOperator."""
    driver = {
        "apiVersion": sim_kinds.CSI_DRIVER.api_version,
        "kind": sim_kinds.CSI_DRIVER.kind,
        "metadata": {"name": DRIVER},
        "spec": {"attachRequired": True, "podInfoOnMount": False},
    }
    account = f"{NAME}-node"
    return [
        (sim_kinds.CSI_DRIVER, driver),
        (kinds.SECURITY_CONTEXT_CONSTRAINTS, _scc(namespace)),
        (kinds.SERVICE_ACCOUNT, rbac.service_account(namespace, account)),
        *[made for sidecar in SIDECARS for made in _sidecar(namespace, sidecar, spec)],
        daemon_set(namespace, NAME, _driver_pod(account, spec), "Spectrum Scale CSI operator"),
    ]


def _scc(namespace: str) -> Object:
    """Return the SCC that the operator makes: it names its users itself, so that no role is needed."""
    accounts = (*(f"{NAME}-{part}" for part in SIDECAR_ACCOUNTS), f"{NAME}-node")
    volumes = ["configMap", "downwardAPI", "emptyDir", "hostPath", "persistentVolumeClaim", "projected", "secret"]
    return {
        "apiVersion": kinds.SECURITY_CONTEXT_CONSTRAINTS.api_version,
        "kind": kinds.SECURITY_CONTEXT_CONSTRAINTS.kind,
        "metadata": {"name": SCC},
        "allowHostDirVolumePlugin": True,
        "allowHostIPC": False,
        "allowHostNetwork": True,
        "allowHostPID": False,
        "allowHostPorts": False,
        "allowPrivilegeEscalation": True,
        "allowPrivilegedContainer": True,
        "allowedCapabilities": [],
        "defaultAddCapabilities": [],
        "requiredDropCapabilities": ["KILL", "MKNOD", "SETUID", "SETGID"],
        "priority": None,  # a required key
        "readOnlyRootFilesystem": False,
        "fsGroup": {"type": "MustRunAs"},
        "runAsUser": {"type": "RunAsAny"},
        "seLinuxContext": {"type": "RunAsAny"},
        "supplementalGroups": {"type": "RunAsAny"},
        "users": [f"system:serviceaccount:{namespace}:{account}" for account in accounts],
        "groups": [],
        "volumes": volumes,
    }


def _driver_pod(account: str, spec: Object) -> Object:
    secrets = [cluster["secrets"] for cluster in spec["clusters"] if cluster.get("secrets")]
    certificates = sorted({cluster["cacert"] for cluster in spec["clusters"] if cluster.get("cacert")})
    return {
        "serviceAccountName": account,
        "hostNetwork": True,
        "nodeSelector": selector(spec.get("pluginNodeSelector")),
        "containers": [
            {
                "name": NAME,
                "image": spec.get("spectrumScale") or DRIVER_IMAGE,
                "securityContext": {"privileged": True},
                "volumeMounts": [
                    *({"name": name, "mountPath": f"/var/lib/ibm/{name}"} for name in (*secrets, *certificates)),
                    {"name": "plugins", "mountPath": KUBELET_PLUGINS},
                ],
            },
            {"name": "driver-registrar", "image": spec.get("driverRegistrar") or REGISTRAR_IMAGE},
        ],
        "volumes": [
            *({"name": name, "secret": {"secretName": name}} for name in secrets),
            *({"name": name, "configMap": {"name": name}} for name in certificates),
            {"name": "plugins", "hostPath": {"path": KUBELET_PLUGINS}},
        ],
    }


def _sidecar(namespace: str, sidecar: str, spec: Object) -> grants.Grant:
    name = f"{NAME}-{sidecar}"
    labels = {"app": name}
    pod = {
        "serviceAccountName": name,
        "nodeSelector": selector(spec.get(f"{sidecar}NodeSelector")),
        "containers": [
            {
                "name": name,
                "image": spec.get(sidecar) or SIDECARS[sidecar],
                "securityContext": {"privileged": True},
                "volumeMounts": [{"name": "plugin", "mountPath": f"{KUBELET_PLUGINS}/{DRIVER}"}],
            }
        ],
        "volumes": [{"name": "plugin", "hostPath": {"path": f"{KUBELET_PLUGINS}/{DRIVER}"}}],
    }
    body = {
        "apiVersion": kinds.STATEFUL_SET.api_version,
        "kind": kinds.STATEFUL_SET.kind,
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "serviceName": name,
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }
    return [(kinds.SERVICE_ACCOUNT, rbac.service_account(namespace, name)), (kinds.STATEFUL_SET, body)]


def selector(entries: list[Object] | None) -> dict[str, str]:
    """Return the node selector of a list of `key`/`value` pairs; without any, nodes labelled scale=true."""
    return {entry["key"]: entry["value"] for entry in entries or []} or {"scale": "true"}
