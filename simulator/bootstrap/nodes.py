"""Nodes as they come up: CPU, memory and disk; no GPU, no rdma/*, no feature label before something makes them."""

import json
from typing import Any

from hardware.profiles import profile
from simulator.actors import kubelet_settings
from simulator.names import HOST_DRIVER, PLAYED_BY, PORTS, PROFILE
from simulator.ports import LOOPBACK
from simulator.spec import NodeSpec

Manifest = dict[str, Any]

ROLE_LABEL = "node-role.kubernetes.io/"
MASTER_TAINT = {"key": "node-role.kubernetes.io/master", "effect": "NoSchedule"}
OPERATING_SYSTEM = {"beta.kubernetes.io/os": "linux", "kubernetes.io/os": "linux"}
ARCHITECTURE = {"beta.kubernetes.io/arch": "amd64", "kubernetes.io/arch": "amd64"}

# Twice OpenShift's documented minimum of a control plane machine, 4 CPUs and 16 GiB.
PLAIN_CPUS = 8
PLAIN_MEMORY_GIB = 32
# Linux reports so much of the memory that was bought, the rest is firmware's and the kernel's: public Slurm
# configurations of machines with eight GPUs have RealMemory 515600 and 1031736 MiB of 512 and 1024 GiB.
MEMORY_REPORTED = 0.983
PODS = 250  # OpenShift's default per node
EPHEMERAL_STORAGE_GIB = 400
_KIB_PER_GIB = 1024**2


def node(spec: NodeSpec) -> Manifest:
    """Return the node's object without its status."""
    masters = "master" in spec.roles
    annotations = {PLAYED_BY: "kwok"}
    if spec.profile:
        annotations[PROFILE] = spec.profile
    if spec.ports:
        annotations[PORTS] = json.dumps([port.model_dump(mode="json") for port in spec.ports])
    if spec.host_driver:
        annotations[HOST_DRIVER] = "true"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": spec.name,
            "labels": {
                "kubernetes.io/hostname": spec.name,
                **OPERATING_SYSTEM,
                **ARCHITECTURE,
                **{f"{ROLE_LABEL}{role}": "" for role in spec.roles},
            },
            "annotations": annotations,
        },
        # A node that is also a worker takes workloads, as on a compact OpenShift cluster.
        "spec": {"taints": [MASTER_TAINT]} if masters and "worker" not in spec.roles else {},
    }


def status(spec: NodeSpec, *, kubelet_port: int, version: str) -> Manifest:
    """Return what the node's kubelet reports of the machine; raise ValueError for an unknown hardware profile."""
    machine = profile(spec.profile) if spec.profile else None
    cpus = machine.cpus if machine else PLAIN_CPUS
    memory = machine.memory_gib if machine else PLAIN_MEMORY_GIB
    amounts = {
        "cpu": str(cpus),
        "memory": f"{int(memory * MEMORY_REPORTED * _KIB_PER_GIB)}Ki",
        "pods": str(PODS),
        "ephemeral-storage": f"{EPHEMERAL_STORAGE_GIB}Gi",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": spec.name},
        "status": {
            "capacity": amounts,
            "allocatable": amounts | kubelet_settings.allocatable({}, amounts),
            "addresses": [
                {"type": "InternalIP", "address": LOOPBACK},
                {"type": "Hostname", "address": spec.name},
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet_port}},
            "nodeInfo": {
                "architecture": "amd64",
                "operatingSystem": "linux",
                "kubeletVersion": f"v{version}",
                "kubeProxyVersion": f"v{version}",
                "containerRuntimeVersion": "simulated://0",
                "kernelVersion": "simulated",
                "osImage": "simulated",
                "bootID": "",
                "machineID": "",
                "systemUUID": "",
            },
        },
    }
