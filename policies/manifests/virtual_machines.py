"""The pod in which KubeVirt runs a virtual machine: its devices are requests, its disks of the node hostPaths.

Everything else of that pod is KubeVirt's own, and runs under an SCC of its own. An instance type counts as one
machine of its namespace.
Source: kubevirt.io/user-guide/compute/host-devices; kubevirt/kubevirt, pkg/virt-controller/services/template.go.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from core.apis.names import NETWORKS
from policies.manifests.part import Part, Root
from policies.manifests.pods import Pod
from policies.manifests.values import Path, Tree, mapping, read

_SPECS: Mapping[str, Path] = {
    "VirtualMachine": ("spec", "template", "spec"),
    "VirtualMachineInstance": ("spec",),
    "VirtualMachineInstanceReplicaSet": ("spec", "template", "spec"),
    "VirtualMachinePool": ("spec", "virtualMachineTemplate", "spec", "template", "spec"),
    "VirtualMachineInstancetype": ("spec",),
}
_MOST = 64
_PLACING = ("tolerations", "priorityClassName", "schedulerName", "resourceClaims")
"""Fields that the pod has under the same names."""
_CONFINED = {"runAsNonRoot": True, "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
_SHARED = {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}


class MachinePod(Pod):
    """The pod of one virtual machine; `path` is that of the machine's own spec."""

    def __init__(self, owner: Root, path: Path, spec: Mapping[str, Any]) -> None:
        super().__init__(owner, path[:-1], {"spec": _pod(spec)}, str(path[-1]))
        self.metadata = Part(owner, (*path[:-1], "metadata"), {"annotations": _networks(spec)})


def is_virtual_machine(group: str, kind: str) -> bool:
    """Return whether a kind is one of KubeVirt's that run machines."""
    return group.endswith("kubevirt.io") and kind in _SPECS


def machine_pods(owner: Root) -> tuple[Pod, ...]:
    """Return the pod of a virtual machine; none where its spec cannot be read."""
    path = _SPECS[owner.kind]
    spec = read(owner.tree, *path)
    return (MachinePod(owner, path, spec),) if isinstance(spec, Mapping) else ()


def _pod(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    resources = {side: dict(mapping(spec, "domain", "resources", side)) for side in ("limits", "requests")}
    devices: dict[str, int] = {}
    for name in _devices(spec):
        devices[name] = devices.get(name, 0) + 1
    resources["limits"] = {"cpu": 1, "memory": "1Gi", **resources["limits"], **devices}
    resources["requests"] = {key: value for key, value in resources["requests"].items() if "/" in key}
    shared = {"name": _SHARED["name"], "mountPath": "/dev/shm"}  # noqa: S108 - the guest has its own
    compute = {"name": "compute", "resources": resources, "securityContext": _CONFINED, "volumeMounts": [shared]}
    pod = {key: spec[key] for key in _PLACING if key in spec}
    return {**pod, "containers": [compute], "volumes": [*_disks(spec), _SHARED]}


def _devices(spec: Mapping[str, Any]) -> Iterator[str]:
    for field in ("gpus", "hostDevices"):
        listed = read(spec, "domain", "devices", field) or read(spec, field)
        for entry in listed[:_MOST] if isinstance(listed, list) else ():
            name = read(entry, "deviceName")
            if isinstance(name, str) and "/" in name:
                yield name


def _disks(spec: Mapping[str, Any]) -> Iterator[Tree]:
    volumes = read(spec, "volumes")
    for volume in volumes if isinstance(volumes, list) else ():
        path = read(volume, "hostDisk", "path")
        yield {"name": read(volume, "name"), **({"hostPath": {"path": path}} if path is not None else {"emptyDir": {}})}


def _networks(spec: Mapping[str, Any]) -> Mapping[str, str]:
    listed = read(spec, "networks")
    names = [read(network, "multus", "networkName") for network in (listed if isinstance(listed, list) else ())[:_MOST]]
    joined = ",".join(name for name in names if isinstance(name, str) and name)
    return {NETWORKS: joined} if joined else {}
