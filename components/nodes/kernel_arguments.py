"""Kernel arguments of GPU nodes."""

from collections.abc import Mapping
from typing import Annotated, Literal

import pulumi
from pydantic import Field, StringConstraints

from components.base.component import Component
from components.base.model import DnsName, Model
from components.nodes.machine_config import Ignition, digest, machine_config

Argument = Annotated[str, StringConstraints(pattern=r"^\S+$")]
"""One kernel argument: a space would split it in two."""


class KernelTuning(Model):
    """Arguments of the kernel, as settings and the component have them."""

    iommu_passthrough: bool = Field(
        default=True,
        description="iommu=pt: devices of the host reach memory without translation, which GPUDirect needs",
    )
    nouveau: bool = Field(default=False, description="keep the kernel's own driver, which claims the GPUs first")
    selinux: Literal["enforcing", "permissive"] = Field(
        default="enforcing",
        description="permissive, which does not separate tenants, needs an exception to the rule selinux-enforcing",
    )
    further_arguments: tuple[Argument, ...] = Field(default=(), description="further kernel arguments, in this order")


class KernelArgumentsArgs(KernelTuning):
    """Which arguments, and for which pool."""

    pool: DnsName = Field(default="worker", description="MachineConfigPool of the GPU nodes; its nodes reboot")
    ignition_version: Ignition = Field(description="2.2.0 up to OpenShift 4.5, 3.x from 4.6 on")


_PASSTHROUGH: Mapping[bool, tuple[str, ...]] = {True: ("iommu=pt",), False: ()}
_NOUVEAU: Mapping[bool, tuple[str, ...]] = {True: (), False: ("modprobe.blacklist=nouveau", "nouveau.modeset=0")}
_SELINUX: Mapping[str, tuple[str, ...]] = {"enforcing": (), "permissive": ("enforcing=0",)}


def arguments(args: KernelArgumentsArgs) -> list[str]:
    """Return the arguments in their order; enforcing is how nodes start, and needs none."""
    chosen = (*_PASSTHROUGH[args.iommu_passthrough], *_NOUVEAU[args.nouveau], *_SELINUX[args.selinux])
    return [*chosen, *args.further_arguments]


class KernelArguments(Component):
    """A MachineConfig; a PoolRollout waits for it, with its `parts`. Outputs: `machine_config`, its name."""

    machine_config: pulumi.Output[str]

    def __init__(self, name: str, args: KernelArgumentsArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("nodes:KernelArguments", name, args, opts)
        config_name = f"50-{args.pool}-kernel-arguments"
        spec = {"config": {"ignition": {"version": args.ignition_version}}, "kernelArguments": arguments(args)}
        config = machine_config(self, name, args.pool, spec, config_name=config_name, subject="kernel-arguments")
        self.parts = {config_name: digest(spec)}
        self.outputs(machine_config=config.id.apply(lambda _: config_name))
