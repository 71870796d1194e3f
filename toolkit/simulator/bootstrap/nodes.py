"""Nodes as they come up: CPU, memory and disk; no GPU, no rdma/*, no feature label before something makes them."""

import json
from uuid import NAMESPACE_DNS, uuid5

from core.apis import kinds
from core.apis.names import CPU_ARCHITECTURES, NODE_ROLE
from core.hardware.profiles import Profile
from core.hardware.profiles.records import MEMORY_REPORTED
from core.simulated import SIMULATED_BY
from toolkit.simulator import manifests
from toolkit.simulator.actors import kubelet_settings
from toolkit.simulator.manifests import Manifest, manifest
from toolkit.simulator.names import HOST_DRIVER, MACHINE, NVLINK_CLIQUE, PORTS, PROFILE
from toolkit.simulator.processes.ports import LOOPBACK
from toolkit.simulator.state import NodeSpec

MASTER_TAINT = {"key": "node-role.kubernetes.io/master", "effect": "NoSchedule"}
OPERATING_SYSTEM = {"beta.kubernetes.io/os": "linux", "kubernetes.io/os": "linux"}

# Twice OpenShift's documented minimum of a control plane machine, 4 CPUs and 16 GiB.
PLAIN_CPUS = 8
PLAIN_MEMORY_GIB = 32
PODS = 250  # OpenShift's default per node
EPHEMERAL_STORAGE_GIB = 400
_KIB_PER_GIB = 1024**2
CLIQUE = "32766"
"""Number that every clique has here, as all GPUs of a rack are in one partition of its NVLink switches."""
# Exempt from SCC admission, as the agents' own namespaces are by accounts of theirs.
NAMESPACE = "openshift-infra"
NAME = "node-agents"
# DaemonSets of OpenShift 4.12, as `oc describe node` prints their requests: thousandths of a CPU, MiB.
REQUESTS = {
    "tuned": (10, 50),
    "dns-default": (60, 110),
    "node-resolver": (5, 21),
    "node-ca": (10, 10),
    "ingress-canary": (10, 20),
    "machine-config-daemon": (40, 100),
    "node-exporter": (9, 47),
    "multus": (10, 65),
    "multus-additional-cni-plugins": (10, 10),
    "network-metrics-daemon": (20, 120),
    "network-check-target": (10, 15),
    "sdn": (110, 220),
}


def node(spec: NodeSpec) -> Manifest:
    """Return the node's object without its status."""
    masters = "master" in spec.roles
    annotations = {SIMULATED_BY: "kwok"}
    if spec.profile:
        annotations[PROFILE] = spec.profile
    if spec.machine:
        annotations[MACHINE] = spec.machine
    if spec.ports:
        annotations[PORTS] = json.dumps([port.model_dump(mode="json") for port in spec.ports])
    if spec.host_driver:
        annotations[HOST_DRIVER] = "true"
    if spec.nvlink_domain:
        annotations[NVLINK_CLIQUE] = clique(spec.nvlink_domain)
    labels = {
        "kubernetes.io/hostname": spec.name,
        **OPERATING_SYSTEM,
        **dict.fromkeys(("beta.kubernetes.io/arch", "kubernetes.io/arch"), _architecture(spec.hardware)),
        **{f"{NODE_ROLE}{role}": "" for role in spec.roles},
    }
    # A node that is also a worker takes workloads, as on a compact OpenShift cluster.
    taints = [*([MASTER_TAINT] if masters and "worker" not in spec.roles else []), *map(dict, spec.taints)]
    rest = {"taints": taints} if taints else {}
    return manifest(kinds.NODE, spec.name, labels=labels, annotations=annotations, spec=rest)


def clique(domain: str) -> str:
    """Return the clique of a rack's GPUs as the driver names it: a UUID, which is invented, and a number."""
    return f"{uuid5(NAMESPACE_DNS, domain)}.{CLIQUE}"


def _architecture(machine: Profile | None) -> str:
    return CPU_ARCHITECTURES[machine.cpu_architecture if machine else "x86_64"]


def status(spec: NodeSpec, *, kubelet_port: int, version: str) -> Manifest:
    """Return what the node's kubelet reports of the machine; raise ValueError for an unknown hardware profile."""
    machine = spec.hardware
    cpus = machine.cpus if machine else PLAIN_CPUS
    memory = machine.memory_gib if machine else PLAIN_MEMORY_GIB
    amounts = {
        "cpu": str(cpus),
        "memory": f"{int(memory * MEMORY_REPORTED * _KIB_PER_GIB)}Ki",
        "pods": str(PODS),
        "ephemeral-storage": f"{EPHEMERAL_STORAGE_GIB}Gi",
    }
    info = {
        "architecture": _architecture(machine),
        "operatingSystem": "linux",
        "kubeletVersion": f"v{version}",
        "kubeProxyVersion": f"v{version}",
        "containerRuntimeVersion": "simulated://0",
        **dict.fromkeys(("kernelVersion", "osImage"), "simulated"),
        **dict.fromkeys(("bootID", "machineID", "systemUUID"), ""),
    }
    whole = {
        "capacity": amounts,
        "allocatable": amounts | kubelet_settings.allocatable({}, amounts),
        "addresses": [
            {"type": "InternalIP", "address": LOOPBACK},
            {"type": "Hostname", "address": spec.name},
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet_port}},
        "nodeInfo": info,
    }
    return manifest(kinds.NODE, spec.name, status=whole)


def daemon_set() -> Manifest:
    """Return one DaemonSet in the place of all: 140 nodes would have 1,680 pods, and only the sum matters."""
    cpu, memory = (sum(column) for column in zip(*REQUESTS.values(), strict=True))
    container = {
        "name": NAME,
        "image": "simulated/openshift-node-agents:0",
        "resources": {"requests": {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}},
    }
    pod = {
        "hostNetwork": True,
        "priorityClassName": "system-node-critical",
        "tolerations": [{"operator": "Exists"}],
        "containers": [container],
    }
    return manifests.daemon_set(NAMESPACE, NAME, pod, "the agents of OpenShift")[1]
