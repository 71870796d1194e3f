"""What a kubelet's configuration means: if a kubelet starts with it, and what it leaves for pods. Pure functions.

The messages are those of the kubelet's managers (kubernetes, pkg/kubelet/cm).
"""

import json
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from core.apis import quantity
from core.hardware import cpus
from core.hardware.profiles import Profile
from toolkit.simulator.actors import ignition
from toolkit.simulator.actors.api import Object

PATH = "/etc/kubernetes/kubelet.conf"
POLICIES = {
    "topologyManagerPolicy": ("none", "best-effort", "restricted", "single-numa-node"),
    "topologyManagerScope": ("container", "pod"),
    "cpuManagerPolicy": ("none", "static"),
    "memoryManagerPolicy": ("None", "Static"),
}
MOST_NUMA_NODES = 8
EVICTION_MIB = 100
"""memory.available of the default evictionHard, MiB."""
SYSTEM_RESERVED = {"cpu": "500m", "memory": "1Gi"}
"""What OpenShift's kubelets reserve for the system unless a KubeletConfig sets it."""
_MIB = 1024**2
FORBIDDEN = ("clusterDNS", "clusterDomain", "runtimeRequestTimeout", "staticPodPath")
"""Fields that OpenShift reserves for itself."""
_TYPES: dict[str, type] = {
    **dict.fromkeys((*POLICIES, "reservedSystemCPUs", "cpuManagerReconcilePeriod"), str),
    **dict.fromkeys(("systemReserved", "kubeReserved", "evictionHard", "topologyManagerPolicyOptions"), dict),
    "reservedMemory": list,
}


def refused_by_controller(kubelet: Object) -> str | None:
    """Return why OpenShift makes no MachineConfig of it, None if it does: it checks types and its own fields only."""
    for field, type_ in _TYPES.items():
        if field in kubelet and not isinstance(kubelet[field], type_):
            return f"Error: could not unmarshal kubeletConfig: {field} is {type(kubelet[field]).__name__}"
    for field in FORBIDDEN:
        if field in kubelet:
            return f"Error: KubeletConfiguration: {field} is not allowed to be set, but contains: {kubelet[field]}"
    return None


def kubelet_of(rendered: Object) -> Object:
    """Return the kubelet's fields in a rendered MachineConfig; empty when no KubeletConfig selects the pool."""
    for file in rendered["spec"]["config"].get("storage", {}).get("files") or []:
        if file["path"] == PATH:
            kubelet: Object = json.loads(ignition.file_text(file))
            return kubelet
    return {}


def refusal(kubelet: Object, profile: Profile | None, cpu_count: int) -> str | None:
    """Return why a kubelet ends at its start on a machine with so many CPUs; None when it runs."""
    return next(
        (
            fault
            for fault in (
                *_unknown(kubelet),
                *_topology(kubelet, profile),
                *_cpu_manager(kubelet, cpu_count),
                *_memory_manager(kubelet, profile),
            )
        ),
        None,
    )


def _unknown(kubelet: Object) -> Iterator[str]:
    for field, policies in POLICIES.items():
        if kubelet.get(field) and kubelet[field] not in policies:
            yield f'invalid configuration: {field} "{kubelet[field]}" must be one of: [{" ".join(policies)}]'


def _topology(kubelet: Object, profile: Profile | None) -> Iterator[str]:
    requested = (kubelet.get("topologyManagerPolicyOptions") or {}).get("max-allowable-numa-nodes", "")
    most = int(requested) if str(requested).isdecimal() else MOST_NUMA_NODES
    nodes = len(profile.numa) if profile else 0
    if kubelet.get("topologyManagerPolicy", "none") != "none" and nodes > most:
        yield f"unsupported on machines with more than {most} NUMA Nodes"


def _cpu_manager(kubelet: Object, cpu_count: int) -> Iterator[str]:
    text = kubelet.get("reservedSystemCPUs") or ""
    try:
        reserved = cpus.parse(text) if text else frozenset()
    except ValueError:
        yield f'unable to parse reserved-cpus: "{text}"'
        return
    beyond = sorted(cpu for cpu in reserved if cpu >= cpu_count)
    if beyond:
        yield (
            "[cpumanager] unable to build the reserved physical CPUs from the reserved set:"
            f" unknown CPU ID: {beyond[0]}, the machine has {cpu_count}"
        )
    if kubelet.get("cpuManagerPolicy") == "static" and not reserved and not _reserved(kubelet, "cpu"):
        yield "[cpumanager] unable to determine reserved CPU resources for static policy"


def _memory_manager(kubelet: Object, profile: Profile | None) -> Iterator[str]:
    if kubelet.get("memoryManagerPolicy") != "Static":
        return
    entries = [entry for entry in kubelet.get("reservedMemory") or [] if isinstance(entry, dict)]
    numa_nodes = {node.id for node in profile.numa} if profile else set()
    absent = [entry.get("numaNode") for entry in entries if numa_nodes and entry.get("numaNode") not in numa_nodes]
    if absent:
        yield (
            f"the reserved memory configuration references a NUMA node {absent[0]} that does not exist on this machine"
        )
    reserved = _sum((entry.get("limits") or {}).get("memory") for entry in entries)
    expected = reserved_memory(kubelet)
    if reserved != expected:
        yield (
            f'[memorymanager] the total amount "{_mebibytes(reserved)}" of type "memory" is not equal to the value'
            f' "{_mebibytes(expected)}" determined by Node Allocatable feature'
        )


def reserved_memory(kubelet: Object) -> Decimal:
    """Return the bytes that pods do not get: for the system, for Kubernetes and for eviction."""
    eviction = quantity.amount((kubelet.get("evictionHard") or {}).get("memory.available"))
    return _reserved(kubelet, "memory") + (Decimal(EVICTION_MIB * _MIB) if eviction is None else eviction)


def _reserved(kubelet: Object, resource: str) -> Decimal:
    return _sum((kubelet.get(part) or {}).get(resource) for part in ("systemReserved", "kubeReserved"))


def _sum(quantities: Iterable[Any]) -> Decimal:
    return sum((quantity.amount(text) or Decimal(0) for text in quantities), Decimal(0))


def _mebibytes(amount: Decimal) -> str:
    return f"{amount / _MIB:f}".rstrip("0").rstrip(".") + "Mi" if amount % _MIB else f"{amount // _MIB:f}Mi"


def allocatable(kubelet: Object, capacity: dict[str, str]) -> dict[str, str]:
    """Return CPUs and memory for pods: what neither the kubelet's configuration nor OpenShift reserves."""
    settings = kubelet | {"systemReserved": SYSTEM_RESERVED | (kubelet.get("systemReserved") or {})}
    text = kubelet.get("reservedSystemCPUs")
    taken = Decimal(len(cpus.parse(text))) if text else _reserved(settings, "cpu")
    cpu = (quantity.amount(capacity["cpu"]) or Decimal(0)) - taken
    memory = (quantity.amount(capacity["memory"]) or Decimal(0)) - reserved_memory(settings)
    return {"cpu": f"{int(cpu * 1000)}m" if cpu % 1 else f"{int(cpu)}", "memory": f"{int(memory) // 1024}Ki"}
