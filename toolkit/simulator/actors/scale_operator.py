"""IBM's operator of container-native Storage Scale: core pods, the remote file system, and the CSI driver.

The storage cluster is not simulated: its GUI takes any account, and it has every file system that is requested.
"""

from collections.abc import Mapping

from core.apis import kinds
from core.apis.names import KERNEL_DEVEL, OFED_WAIT, SCALE_CSI_NAMESPACE, SCALE_NAMESPACE
from policies.manifests.values import selects
from toolkit.simulator import names, pods
from toolkit.simulator.actors import images, scale_csi
from toolkit.simulator.actors.api import SCALE_DAEMON, Object, stated
from toolkit.simulator.actors.podactor import Operator
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.manifests import manifest, simulated_by

ACCOUNT = "ibm-spectrum-scale-core"
BUILD = "buildgpl"
"""ConfigMap whose script builds the kernel module after the network's driver."""
_IMAGES = "cp.icr.io/cp/gpfs"
NAME = "ibm-spectrum-scale"
OWN_ACCOUNT = "ibm-spectrum-scale-gui-csiadmin"
"""Secret with which the CSI driver calls the GUI of the workers' cluster."""
QUORUM = 3
AGAIN_SECONDS = 1.0
_KEYS = {"username", "password"}
_DRIVER = "cp.icr.io/cp/gpfs/csi/ibm-spectrum-scale-csi-driver:v2.14.1"


def core_name(node: str) -> str:
    """Return the name of a node's core pod: that of the node up to its first dot."""
    return node.partition(".")[0]


def core_pod(node: str, spec: Object) -> Object:
    """Return the core pod of a node; `spec` is the Cluster's."""
    roles = (spec.get("daemon") or {}).get("roles") or []
    client: Object = next((role for role in roles if role.get("name") == "client"), {})
    container = {
        "name": "gpfs",
        "image": f"{_IMAGES}/{(spec.get('license') or {}).get('license')}/ibm-spectrum-scale-daemon:v5.2.3.1",
        "securityContext": {"privileged": True},
        "resources": {"requests": client.get("resources") or {}},
    }
    body = {
        "serviceAccountName": ACCOUNT,
        "hostNetwork": True,
        "nodeSelector": {"kubernetes.io/hostname": node},
        "tolerations": (spec.get("daemon") or {}).get("tolerations") or [],
        "initContainers": [{"name": "mmbuildgpl", "image": f"{_IMAGES}/ibm-spectrum-scale-core-init:v5.2.3.1"}],
        "containers": [container],
    }
    labels = {"app.kubernetes.io/name": "core"}
    marks = simulated_by("Storage Scale operator")
    return manifest(kinds.POD, core_name(node), SCALE_NAMESPACE, labels=labels, annotations=marks, spec=body)


def core_waits_for_driver(core: Object, runtime: Runtime) -> bool:
    """Return whether the kernel module is to be built after a network driver that is not ready on the node."""
    if pods.basename(pods.image(core)) not in images.SCALE_CORES:
        return False
    node = runtime.nodes.get(pods.node_name(core))
    scripted = runtime.config_maps.get(BUILD, SCALE_NAMESPACE) is not None
    return scripted and node is not None and pods.labels(node).get(OFED_WAIT) == "true"


def core_fault(node: Object | None) -> str | None:
    """Return why the kernel module cannot be built on a node, None if it can."""
    if node is None or KERNEL_DEVEL in pods.annotations(node).get(names.EXTENSIONS, "").split():
        return None
    return f"mmbuildgpl: Cannot find a valid kernel header file; no MachineConfig gives the node {KERNEL_DEVEL}"


class ScaleOperator(Operator):
    """For the first Cluster: a core pod on every labelled node; then the file systems; with the first, the driver."""

    watched = (
        (kinds.SCALE_CLUSTER, None),
        (kinds.SCALE_REMOTE_CLUSTER, SCALE_NAMESPACE),
        (kinds.SCALE_FILE_SYSTEM, SCALE_NAMESPACE),
        (SCALE_DAEMON, SCALE_NAMESPACE),
        (kinds.NODE, None),
        (kinds.POD, SCALE_NAMESPACE),
    )

    def reconcile(self) -> float | None:
        """Bring everything up to date; again soon while something is missing."""
        clusters = self.objects(kinds.SCALE_CLUSTER)
        troubles = self._cores(clusters[0]) if clusters else ["there is no Cluster"]
        remotes = {
            remote["metadata"]["name"]: self._remote(remote) for remote in self.objects(kinds.SCALE_REMOTE_CLUSTER)
        }
        mounted = [self._mount(file_system, troubles, remotes) for file_system in self.objects(kinds.SCALE_FILE_SYSTEM)]
        if clusters and any(mounted):
            self._driver(clusters[0])
        return None if clusters and not troubles and all(mounted) else AGAIN_SECONDS

    def _cores(self, cluster: Object) -> list[str]:
        """Make and remove core pods, report how far they are; return why a file system cannot be mounted yet."""
        selector = {"matchLabels": (cluster["spec"].get("daemon") or {}).get("nodeSelector") or {}}
        nodes = {
            node["metadata"]["name"]: node
            for node in self.objects(kinds.NODE)
            if selects(selector or {}, pods.labels(node))
        }
        pod_of_name = {pod["metadata"]["name"]: pod for pod in self.caches[kinds.POD].items()}
        node_of_pod = {core_name(name): name for name in nodes}
        for pod in pod_of_name.keys() - node_of_pod.keys():
            self.api.delete(kinds.POD, pod, SCALE_NAMESPACE)
        self.make(
            (
                (kinds.POD, core_pod(node_of_pod[pod], cluster["spec"]))
                for pod in node_of_pod.keys() - pod_of_name.keys()
            ),
            cluster,
        )
        late = [
            _core_fault(pod, pod_of_name.get(pod), nodes[node_of_pod[pod]])
            for pod in sorted(node_of_pod)
            if pod not in pod_of_name or not pods.condition(pod_of_name[pod], "Ready")
        ]
        few = (
            [f"{len(nodes)} nodes have the label of core pods, and {QUORUM} make a quorum"]
            if len(nodes) < QUORUM
            else []
        )
        troubles = [*few, *late]
        self._set_condition(kinds.SCALE_CLUSTER, cluster, "Success", troubles, "Configured")
        daemon = self._daemon(cluster)
        if daemon is not None:
            running = {"running": str(len(node_of_pod) - len(late)), "starting": str(len(late))}
            identity = {} if troubles else {"clusterID": names.SCALE_CLUSTER_ID, "clusterName": NAME}
            self.api.set_status(SCALE_DAEMON, daemon, {"podsStatus": running, **identity})
        return troubles

    def _daemon(self, cluster: Object) -> Object | None:
        """Return the Daemon, which has the cluster's id; make it where it is missing."""
        daemon = self.caches[SCALE_DAEMON].get(NAME, SCALE_NAMESPACE)
        if daemon is None:
            body = manifest(SCALE_DAEMON, NAME, SCALE_NAMESPACE, spec={})
            self.make([(SCALE_DAEMON, body)], cluster)
        return daemon

    def _remote(self, remote: Object) -> str | None:
        """Report whether the storage cluster can be called; return why not."""
        gui = remote["spec"].get("gui") or {}
        why = (
            self._account(gui.get("secretName", ""), SCALE_NAMESPACE)
            or (gui.get("csiSecretName") and self._account(gui["csiSecretName"], SCALE_CSI_NAMESPACE))
            or self._certificate(gui)
            or self._addresses(remote["spec"], gui)
            or None
        )
        self._set_condition(kinds.SCALE_REMOTE_CLUSTER, remote, "Ready", [why] if why else [], "AuthCreated")
        return why

    def _account(self, secret: str, namespace: str) -> str | None:
        obj = self.runtime.secrets.get(secret, namespace)
        if obj is None:
            return f"secret {namespace}/{secret} not found"
        lacking = sorted(_KEYS - {*(obj.get("data") or {})})
        return f"secret {namespace}/{secret} has no key {lacking[0]}" if lacking else None

    def _certificate(self, gui: Object) -> str | None:
        name = gui.get("cacert")
        if not name or self.runtime.config_maps.get(name, SCALE_NAMESPACE):
            return None
        return f"configmap {SCALE_NAMESPACE}/{name} with the CA of the GUI not found"

    def _addresses(self, spec: Object, gui: Object) -> str | None:
        if not (gui.get("hosts") or gui.get("host")):
            return "gui.hosts names no GUI"
        # A real operator takes three nodes that the GUI shows; here no GUI does.
        return None if spec.get("contactNodes") else "contactNodes names no node of the storage cluster"

    def _mount(self, file_system: Object, troubles: list[str], remotes: Mapping[str, str | None]) -> bool:
        """Report whether a file system is mounted on every core pod's node; return it."""
        remote = (file_system["spec"].get("remote") or {}).get("cluster", "")
        faults = list(troubles)
        if remote not in remotes:
            faults.append(f"RemoteCluster {remote} not found")
        elif why := remotes[remote]:
            faults.append(f"RemoteCluster {remote} is not ready: {why}")
        self._set_condition(kinds.SCALE_FILE_SYSTEM, file_system, "Success", faults, "FilesystemEstablished")
        return not faults

    def _set_condition(self, kind: kinds.Kind, obj: Object, condition: str, troubles: list[str], good: str) -> None:
        state = ("False", "Waiting", "; ".join(troubles)) if troubles else ("True", good, "")
        conditions = stated(obj, {condition: state})
        self.api.set_status(kind, obj, {"conditions": conditions})

    def _driver(self, cluster: Object) -> None:
        """Make what the CSI operator beside it installs the driver from; claims of its volumes are bound from then."""
        secret = manifest(
            kinds.SECRET, OWN_ACCOUNT, SCALE_CSI_NAMESPACE, stringData=dict.fromkeys(sorted(_KEYS), "simulated")
        )
        self.settle(cluster, lambda: [(kinds.SECRET, secret), (kinds.CSI_SCALE_OPERATOR, self._csi(cluster))])

    def _csi(self, cluster: Object) -> Object:
        remote = self.objects(kinds.SCALE_REMOTE_CLUSTER)[0]["spec"]["gui"]
        selector = [{"key": key, "value": value} for key, value in cluster["spec"]["daemon"]["nodeSelector"].items()]
        secret_of_cluster = {
            names.SCALE_CLUSTER_ID: OWN_ACCOUNT,
            names.SCALE_STORAGE_ID: remote.get("csiSecretName") or OWN_ACCOUNT,
        }
        spec = {
            "clusters": [
                {"id": id_, "secrets": secret, "secureSslMode": False, "restApi": [{"guiHost": f"{NAME}-gui"}]}
                for id_, secret in secret_of_cluster.items()
            ],
            "localScaleCluster": names.SCALE_CLUSTER_ID,
            "spectrumScale": _DRIVER,
            **{f"{part}NodeSelector": selector for part in ("plugin", *scale_csi.SIDECAR_ACCOUNTS)},
        }
        return manifest(kinds.CSI_SCALE_OPERATOR, scale_csi.NAME, SCALE_CSI_NAMESPACE, spec=spec)


def _core_fault(name: str, pod: Object | None, node: Object) -> str:
    """Return why a core pod does not run, as far as its node is the reason."""
    where = f"core pod {name}"
    if pod is None or not pods.node_name(pod):
        return f"{where} is not on its node yet"
    return f"{where}: {why}" if (why := core_fault(node)) else f"{where} is starting"
