"""IBM Spectrum Scale CSI operator, 2.0 and 3: the object of the CSI driver, sidecars, the driver on every client."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.apis import kinds
from core.apis.kinds import Kind
from core.apis.names import SCALE_CSI_DRIVER as DRIVER
from toolkit.simulator import pods
from toolkit.simulator.actors import grants, scale_provisioner
from toolkit.simulator.actors.api import CSI_DRIVER, Object, stated
from toolkit.simulator.actors.podactor import HERE, Operator, ready
from toolkit.simulator.actors.volumes import LONG, SHORT, driver_annotations
from toolkit.simulator.manifests import daemon_set, manifest, of_pods

BY = "Spectrum Scale CSI operator"
NAME = "ibm-spectrum-scale-csi"
SCC = "spectrum-scale-csiaccess"
SIDECAR_ACCOUNTS = ("attacher", "provisioner", "snapshotter", "resizer")
KUBELET_PLUGINS = "/var/lib/kubelet/plugins"
_VOLUMES = ["configMap", "downwardAPI", "emptyDir", "hostPath", "persistentVolumeClaim", "projected", "secret"]


@dataclass(frozen=True)
class Generation:
    """What differs between generations.

    Images, the kind of the sidecars' controller, the key that `spec` must have, the parts of handles that it reads.
    """

    driver: str
    registrar: str
    sidecars: Mapping[str, str]
    sidecar_kind: Kind
    required: str
    parts: tuple[int, ...]


TWO = Generation(
    driver="quay.io/ibm-spectrum-scale/ibm-spectrum-scale-csi-driver:v2.0.0",
    registrar="quay.io/k8scsi/csi-node-driver-registrar:v1.2.0",
    sidecars={
        "attacher": "quay.io/k8scsi/csi-attacher:v2.1.1",
        "provisioner": "quay.io/k8scsi/csi-provisioner:v1.5.0",
    },
    sidecar_kind=kinds.STATEFUL_SET,
    required="scaleHostpath",
    parts=SHORT,
)
THREE = Generation(
    driver="cp.icr.io/cp/gpfs/csi/ibm-spectrum-scale-csi-driver:v3.1.0",
    registrar="registry.k8s.io/sig-storage/csi-node-driver-registrar:v2",
    sidecars={part: f"registry.k8s.io/sig-storage/csi-{part}:v3" for part in SIDECAR_ACCOUNTS},
    sidecar_kind=kinds.DEPLOYMENT,
    required="localScaleCluster",
    parts=LONG,
)


def generation(image: str) -> Generation:
    """Return the generation of an operator's image, by its tag."""
    return TWO if image.partition("@")[0].rpartition(":")[2].startswith("v2.0") else THREE


class ScaleCsiOperator(Operator):
    """For every CSIScaleOperator of its namespace: CSIDriver, two sidecar StatefulSets and the driver's DaemonSet."""

    kind = kinds.CSI_SCALE_OPERATOR
    watched = ((kind, HERE), (kinds.DAEMON_SET, HERE))

    def reconcile(self) -> None:
        """Reconcile what is made for each, and remove the driver with the last."""
        resources = self.objects(self.kind)
        for resource in resources:
            self._install(resource)
        if not resources and self.api.find(CSI_DRIVER, DRIVER):
            self.api.delete(CSI_DRIVER, DRIVER)

    def _install(self, resource: Object) -> None:
        meta = resource["metadata"]
        version = (meta["uid"], meta["generation"])
        chosen = generation(pods.image(self.pod))
        why = lacking(resource["spec"], chosen)
        if not why and (self.installed != version or self.own(kinds.DAEMON_SET, NAME) is None):
            self._remove_former(chosen)
            self.make(operands(self.namespace, resource["spec"], chosen), resource)
            self.installed = version
        success = not why and ready([self.own(kinds.DAEMON_SET, NAME)])
        reason = "CSIReady" if success else "ValidationFailed" if why else "CSIProgressing"
        conditions = stated(resource, {"Success": (str(success), reason, why or "")})
        self.api.set_status(self.kind, resource, {"conditions": conditions})

    def _remove_former(self, chosen: Generation) -> None:
        """Remove the sidecars of another generation, where their controllers are of another kind."""
        for other in (TWO, THREE):
            if other.sidecar_kind != chosen.sidecar_kind:
                for sidecar in other.sidecars:
                    self.api.delete(other.sidecar_kind, f"{NAME}-{sidecar}", self.namespace)


def lacking(spec: Object, chosen: Generation) -> str | None:
    """Return what an object of another generation lacks for this one, and what its clusters lack; None if nothing."""
    if not spec.get(chosen.required):
        return f"spec.{chosen.required} is missing"
    for cluster in spec.get("clusters") or []:
        if cluster.get("secureSslMode") and not cluster.get("cacert"):
            return f"CA certificate must be specified in secure SSL mode for the cluster {cluster['id']}"
    local = spec.get("localScaleCluster")
    if chosen is THREE and local not in [cluster["id"] for cluster in spec.get("clusters") or []]:
        return f"spec.localScaleCluster {local} is none of spec.clusters"
    return None


def operands(namespace: str, spec: Object, chosen: Generation = TWO) -> grants.Grant:
    """Return what the operator makes from the `spec` of a CSIScaleOperator."""
    driver = {"attachRequired": True, "podInfoOnMount": False}
    account = f"{NAME}-node"
    return [
        (CSI_DRIVER, manifest(CSI_DRIVER, DRIVER, spec=driver)),
        grants.scc(
            SCC,
            namespace,
            [f"{NAME}-{part}" for part in (*SIDECAR_ACCOUNTS, "node")],
            allowHostPorts=False,
            allowedCapabilities=[],
            requiredDropCapabilities=["KILL", "MKNOD", "SETUID", "SETGID"],
            fsGroup={"type": "MustRunAs"},
            volumes=_VOLUMES,
        ),
        grants.service_account(namespace, account),
        *[made for sidecar in chosen.sidecars for made in _sidecar(namespace, sidecar, spec, chosen)],
        _driver(namespace, account, spec, chosen),
    ]


def _driver(namespace: str, account: str, spec: Object, chosen: Generation) -> tuple[Kind, Object]:
    """Return the driver's DaemonSet; a changed list of clusters makes new pods, which read it."""
    kind, made = daemon_set(namespace, NAME, _driver_pod(account, spec, chosen), BY)
    clusters = spec.get("clusters") or []
    primary = next((str(cluster["id"]) for cluster in clusters if cluster.get("primary")), None)
    annotations = driver_annotations(
        [str(cluster["id"]) for cluster in clusters], chosen.parts, spec.get("localScaleCluster") or primary
    )
    made["spec"]["template"]["metadata"]["annotations"] = annotations
    return kind, made


def _driver_pod(account: str, spec: Object, chosen: Generation) -> Object:
    secrets = [cluster["secrets"] for cluster in spec["clusters"] if cluster.get("secrets")]
    certificates = sorted({cluster["cacert"] for cluster in spec["clusters"] if cluster.get("cacert")})
    return {
        "serviceAccountName": account,
        "hostNetwork": True,
        "nodeSelector": selector(spec.get("pluginNodeSelector")),
        "tolerations": list(spec.get("tolerations") or []),
        "containers": [
            {
                "name": NAME,
                "image": spec.get("spectrumScale") or chosen.driver,
                "securityContext": {"privileged": True},
                "volumeMounts": [
                    *({"name": name, "mountPath": f"/var/lib/ibm/{name}"} for name in (*secrets, *certificates)),
                    {"name": "plugins", "mountPath": KUBELET_PLUGINS},
                ],
            },
            {"name": "driver-registrar", "image": spec.get("driverRegistrar") or chosen.registrar},
        ],
        "volumes": [
            *({"name": name, "secret": {"secretName": name}} for name in secrets),
            *({"name": name, "configMap": {"name": name}} for name in certificates),
            {"name": "plugins", "hostPath": {"path": KUBELET_PLUGINS}},
        ],
    }


def _sidecar(namespace: str, sidecar: str, spec: Object, chosen: Generation) -> grants.Grant:
    name = f"{NAME}-{sidecar}"
    pod = {
        "serviceAccountName": name,
        "nodeSelector": selector(spec.get(f"{sidecar}NodeSelector")),
        "tolerations": list(spec.get("tolerations") or []),
        "containers": [
            {
                "name": name,
                "image": spec.get(sidecar) or chosen.sidecars[sidecar],
                "securityContext": {"privileged": True},
                "volumeMounts": [{"name": "plugin", "mountPath": f"{KUBELET_PLUGINS}/{DRIVER}"}],
            }
        ],
        "volumes": [{"name": "plugin", "hostPath": {"path": f"{KUBELET_PLUGINS}/{DRIVER}"}}],
    }
    kind = chosen.sidecar_kind
    service = {"serviceName": name} if kind == kinds.STATEFUL_SET else {}
    rights = grants.cluster_wide(name, namespace, name, _RIGHTS[sidecar]) if sidecar in _RIGHTS else []
    made = of_pods(kind, namespace, name, pod, BY, replicas=1, **service)
    return [grants.service_account(namespace, name), *rights, made]


_RIGHTS = {"provisioner": scale_provisioner.RULES}


def selector(entries: list[Object] | None) -> dict[str, str]:
    """Return the node selector of a list of `key`/`value` pairs; without any, nodes labelled scale=true."""
    return {entry["key"]: entry["value"] for entry in entries or []} or {"scale": "true"}
