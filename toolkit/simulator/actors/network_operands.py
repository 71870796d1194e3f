"""What NVIDIA's network operator makes from its custom resources, as pure functions."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace

from core.apis import kinds
from core.apis.names import MELLANOX_ADAPTER, OFED_WAIT
from toolkit.simulator.actors import grants
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.deviceplugins import FILE
from toolkit.simulator.actors.multus import RESOURCE
from toolkit.simulator.actors.package import PRIVILEGED
from toolkit.simulator.manifests import daemon_set, manifest, simulated_by

BY = "network operator"
SYSTEM = "rhcos4.20-amd64"
"""What the operator appends to the driver's tag."""
RESOURCE_PREFIX = "nvidia.com"


@dataclass(frozen=True)
class State:
    """One part of a policy: the operator's name for it, the field that asks for it, what is made."""

    name: str
    field: str
    daemon_set: str
    account: str
    pod: Callable[[Object], Object]
    config_map: str | None = None
    folder: str = ""

    def of_pool(self, name: str) -> "State":
        """Return the state of a NicNodePolicy; what is made has its name as suffix, the SR-IOV plugin another prefix.

        Simulated choices: the driver's name lacks the real one's hash, and a suffix that is not published is last.
        """
        daemon_set = {
            "ofedDriver": f"{self.daemon_set.removesuffix('-ds')}-{name}-ds",
            "sriovDevicePlugin": f"net-op-sriov-device-plugin-{name}",
        }.get(self.field, f"{self.daemon_set}-{name}")
        config_map = f"{self.config_map}-{name}" if self.config_map else None
        return replace(self, daemon_set=daemon_set, account=f"{self.account}-{name}", config_map=config_map)

    def manifests(self, namespace: str, spec: Object) -> grants.Grant:
        """Return configuration, account, rights and DaemonSet of the state; `spec` is the policy's."""
        pod = self.pod(spec[self.field])
        pod["serviceAccountName"] = self.account
        pod["priorityClassName"] = "system-node-critical"
        pod["nodeSelector"] = {
            MELLANOX_ADAPTER: "true",
            **pod.get("nodeSelector", {}),
            **(spec.get("nodeSelector") or {}),
        }
        pod["tolerations"] = [
            *(spec.get("tolerations") or []),
            {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        ]
        if affinity := spec.get("nodeAffinity"):
            pod["affinity"] = {"nodeAffinity": affinity}
        made = grants.account(namespace, self.account, (PRIVILEGED,))
        if self.config_map:
            pod["volumes"] = [{"name": "config", "configMap": {"name": self.config_map}}]
            pod["containers"][0]["volumeMounts"] = [{"name": "config", "mountPath": self.folder}]
            data = {FILE: spec[self.field].get("config") or ""}
            made.append((kinds.CONFIG_MAP, manifest(kinds.CONFIG_MAP, self.config_map, namespace, data=data)))
        kind, body = daemon_set(namespace, self.daemon_set, pod, BY)
        if self.field == "ofedDriver":
            # A new driver comes with the pod's next start, or by the operator's own upgrade, node by node.
            body["spec"]["updateStrategy"] = {"type": "OnDelete"}
        return [*made, (kind, body)]


def _image(part: Object, suffix: str = "") -> str:
    version = str(part["version"])
    joined = f"@{version}" if version.startswith("sha256:") else f":{version}{suffix}"
    return f"{part['repository']}/{part['image']}{joined}"


def _driver(part: Object) -> Object:
    container = {
        "name": "mofed-container",
        "image": _image(part, f"-{SYSTEM}"),
        "env": part.get("env") or [],
        "securityContext": {"privileged": True},
    }
    return {"hostNetwork": True, "containers": [container]}


def _plugin(name: str) -> Callable[[Object], Object]:
    def pod(part: Object) -> Object:
        container = {"name": name, "image": _image(part), "securityContext": {"privileged": True}}
        return {"hostNetwork": True, "nodeSelector": {OFED_WAIT: "false"}, "containers": [container]}

    return pod


DRIVER = State("state-OFED", "ofedDriver", "mofed-rhcos4.20-ds", "ofed-driver", _driver)
STATES = (
    DRIVER,
    State(
        "state-RDMA-device-plugin",
        "rdmaSharedDevicePlugin",
        "rdma-shared-dp-ds",
        "rdma-shared",
        _plugin("rdma-shared-dp"),
        "rdma-devices",
        "/k8s-rdma-shared-dev-plugin",
    ),
    State(
        "state-SRIOV-device-plugin",
        "sriovDevicePlugin",
        "network-operator-sriov-device-plugin",
        "sriov-device-plugin",
        _plugin("kube-sriovdp"),
        "network-operator-sriovdp-config",
        "/etc/pcidp",
    ),
)


def network(resource: Object) -> tuple[kinds.Kind, Object]:
    """Return the NetworkAttachmentDefinition of a MacvlanNetwork or HostDeviceNetwork.

    Raise ValueError for `ipam` that is not JSON.
    """
    meta, spec = resource["metadata"], resource.get("spec") or {}
    config: Object = {"cniVersion": "0.3.1", "name": meta["name"]}
    marks = simulated_by(BY)
    if resource["kind"] == kinds.HOST_DEVICE_NETWORK.kind:
        config |= {"type": "host-device"}
        marks[RESOURCE] = f"{RESOURCE_PREFIX}/{spec.get('resourceName', '')}"
    else:
        config |= {"type": "macvlan"} | {key: spec[key] for key in ("master", "mode", "mtu") if spec.get(key)}
    if spec.get("ipam"):
        config["ipam"] = json.loads(spec["ipam"])
    kind = kinds.NETWORK_ATTACHMENT_DEFINITION
    namespace = spec.get("networkNamespace") or "default"
    return kind, manifest(kind, meta["name"], namespace, annotations=marks, spec={"config": json.dumps(config)})
