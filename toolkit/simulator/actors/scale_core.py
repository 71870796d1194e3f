"""Core pods of container-native Storage Scale: what they are, and what each needs of its node."""

from core.apis import kinds
from core.apis.names import KERNEL_DEVEL, OFED_WAIT, SCALE_NAMESPACE
from toolkit.simulator import names, pods
from toolkit.simulator.actors import images
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.manifests import manifest, simulated_by

ACCOUNT = "ibm-spectrum-scale-core"
BUILD = "buildgpl"
"""ConfigMap whose script builds the kernel module after the network's driver."""
_IMAGES = "cp.icr.io/cp/gpfs"


def name_of(node: str) -> str:
    """Return the name of a node's core pod: that of the node up to its first dot."""
    return node.partition(".")[0]


def pod(node: str, spec: Object) -> Object:
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
    return manifest(kinds.POD, name_of(node), SCALE_NAMESPACE, labels=labels, annotations=marks, spec=body)


def waits_for_driver(core: Object, runtime: Runtime) -> bool:
    """Return whether the kernel module is to be built after a network driver that is not ready on the node."""
    if pods.basename(pods.image(core)) not in images.SCALE_CORES:
        return False
    node = runtime.nodes.get(pods.node_name(core))
    scripted = runtime.config_maps.get(BUILD, SCALE_NAMESPACE) is not None
    return scripted and node is not None and pods.labels(node).get(OFED_WAIT) == "true"


def fault(node: Object | None) -> str | None:
    """Return why the kernel module cannot be built on a node, None if it can."""
    if node is None or KERNEL_DEVEL in pods.annotations(node).get(names.EXTENSIONS, "").split():
        return None
    return f"mmbuildgpl: Cannot find a valid kernel header file; no MachineConfig gives the node {KERNEL_DEVEL}"
