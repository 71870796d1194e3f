"""How the kubelet of GPU nodes shares out CPUs, so that a pod's CPUs are on the NUMA nodes of its GPUs.

The shared RDMA plugin reports no NUMA nodes: GPUs, CPUs and memory are aligned, HCAs are not, and follow by
NCCL_IB_HCA.
"""

from itertools import chain
from typing import Any, Literal, Self

import pulumi
from pulumi_kubernetes import meta
from pydantic import Field, model_validator

from components.base import waits
from components.base.component import Component, CustomObject
from components.base.model import DnsName, Model, Seconds
from components.base.timeouts import DEFAULTS
from components.nodes.machine_config import digest
from core.apis import kinds, names
from core.apis.names import labels
from core.hardware import cpus
from core.hardware.profiles import Profile
from core.hardware.topology import SYSTEM_CPUS, reserved_cpus

MOST_NUMA_NODES = 8
"""The Topology Manager takes no machine with more."""
EVICTION_MIB = 100
"""memory.available of the kubelet's default evictionHard, which its Memory Manager counts as reserved, MiB."""
_MIB_PER_GIB = 1024


class KubeletAlignment(Model):
    """How the kubelet aligns CPUs, memory and devices, as settings and the component have it."""

    topology_policy: Literal["none", "best-effort", "restricted", "single-numa-node"] = Field(
        default="best-effort",
        description="what happens to a pod whose CPUs and devices cannot come from one NUMA node: restricted and "
        "single-numa-node reject it, and an operator recreates it endlessly; single-numa-node rejects every pod with "
        "more GPUs than a NUMA node has",
    )
    memory_manager: bool = Field(
        default=False, description="allocate memory, too, from the GPUs' NUMA nodes, for Guaranteed pods"
    )


class KubeletConfigArgs(KubeletAlignment):
    """One pool's kubelets. `for_machine` derives what depends on the hardware."""

    pool: DnsName = Field(default="worker", description="MachineConfigPool of the GPU nodes; its nodes reboot")
    pool_labels: dict[str, str] | None = Field(
        default=None,
        description="labels that select the pool; None: the one that OpenShift gives its own pools, and that a custom "
        "pool gets manually",
    )
    numa_nodes: int = Field(ge=1, le=MOST_NUMA_NODES, description="of a machine")
    reserved_cpus: str = Field(description="logical CPUs that no pod gets exclusively, e.g. 0-3,128-131")
    reserved_memory_gib: int = Field(
        default=1,
        gt=0,
        description="GiB of systemReserved, as OpenShift has it by itself. Jobs leave room for the Scale pagepool by "
        "their own limits (core.hardware.placement.Reserve); to reserve that here as well takes more than firmware and "
        "kernel leave, and jobs of whole machines stay Pending",
    )
    topology_scope: Literal["container", "pod"] = Field(
        default="container",
        description="what is aligned as a unit: each container, or the whole pod, so that helpers are aligned with "
        "the GPU container",
    )
    timeout: Seconds = Field(
        default=DEFAULTS.object, description="seconds until OpenShift has accepted it; no node reboots yet"
    )

    @model_validator(mode="after")
    def _cpus(self) -> Self:
        cpus.parse(self.reserved_cpus)
        return self


def for_machine(profile: Profile, reserved: int = SYSTEM_CPUS, **settings: Any) -> KubeletConfigArgs:
    """Return the arguments for a machine; `reserved` is the number of logical CPUs, `settings` are further fields.

    Raises ValueError for a machine whose NUMA nodes no document gives, and for a number of CPUs that is not a number of
    whole cores.
    """
    return KubeletConfigArgs(
        numa_nodes=len(profile.numa),
        reserved_cpus=reserved_cpus(profile, reserved),
        **settings,
    )


def kubelet(args: KubeletConfigArgs) -> dict[str, Any]:
    """Return the fields of the kubelet's own configuration; a wrong one would fail on the node only."""
    memory = {"memoryManagerPolicy": "Static", "reservedMemory": _per_node(args)} if args.memory_manager else {}
    return {
        "cpuManagerPolicy": "static",
        "cpuManagerReconcilePeriod": "5s",
        "reservedSystemCPUs": args.reserved_cpus,
        "systemReserved": {"memory": f"{args.reserved_memory_gib}Gi"},
        "topologyManagerPolicy": args.topology_policy,
        "topologyManagerScope": args.topology_scope,
        **memory,
    }


def _per_node(args: KubeletConfigArgs) -> list[dict[str, Any]]:
    """Return what is reserved of each NUMA node: equal parts, and together exactly what is reserved in all.

    The kubelet does not start with any other sum.
    """
    share, rest = divmod(args.reserved_memory_gib * _MIB_PER_GIB + EVICTION_MIB, args.numa_nodes)
    shares = chain([share + rest], (share for _ in range(args.numa_nodes - 1)))
    return [{"numaNode": node, "limits": {"memory": f"{mib}Mi"}} for node, mib in enumerate(shares)]


class KubeletConfig(Component):
    """A KubeletConfig, of which OpenShift makes a MachineConfig; a PoolRollout waits for that, with `parts`.

    OpenShift names it so for the first KubeletConfig of a pool, and there should be one only. Outputs:
    `machine_config`, its name, known once OpenShift has accepted the configuration.
    """

    machine_config: pulumi.Output[str]

    def __init__(self, name: str, args: KubeletConfigArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("nodes:KubeletConfig", name, args, opts)
        pool_labels = args.pool_labels or {names.MACHINE_CONFIG_POOL + args.pool: ""}
        spec = {"machineConfigPoolSelector": {"matchLabels": pool_labels}, "kubeletConfig": kubelet(args)}
        config = CustomObject(
            f"{name}-kubelet-config",
            kinds.KUBELET_CONFIG,
            meta.v1.ObjectMetaArgs(
                name=f"{args.pool}-numa",
                labels=labels("kubelet", "nodes"),
                annotations=waits.wait_for([waits.condition("Success")], timeout=args.timeout),
            ),
            {"spec": spec},
            self.child(),
        )
        config_name = f"99-{args.pool}-generated-kubelet"
        self.parts = {config_name: digest(spec)}
        self.outputs(machine_config=config.id.apply(lambda _: config_name))
