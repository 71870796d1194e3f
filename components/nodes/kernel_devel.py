"""The kernel's headers on nodes of RHCOS, against which container-native Storage Scale builds its kernel module."""

import pulumi
from pydantic import Field

from components.base.component import Component
from components.base.model import DnsName, Model
from components.nodes.machine_config import Ignition, digest, machine_config
from core.apis import names


class KernelDevelArgs(Model):
    """For which pool."""

    pool: DnsName = Field(default="worker", description="role of the nodes; all pools of workers take that of worker")
    ignition_version: Ignition = Field(description="3.x: earlier ones have no extensions")


class KernelDevel(Component):
    """A MachineConfig with an extension; a PoolRollout waits for it, with its `parts`. Outputs: `machine_config`."""

    machine_config: pulumi.Output[str]

    def __init__(self, name: str, args: KernelDevelArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("nodes:KernelDevel", name, args, opts)
        # As IBM's own: generated/scale/mco/mco.yaml of IBM/ibm-spectrum-scale-container-native.
        config_name = f"00-{args.pool}-ibm-spectrum-scale-kernel-devel"
        spec = {"config": {"ignition": {"version": args.ignition_version}}, "extensions": [names.KERNEL_DEVEL]}
        config = machine_config(self, name, args.pool, spec, config_name=config_name, subject="kernel-devel")
        self.parts = {config_name: digest(spec)}
        self.outputs(machine_config=config.id.apply(lambda _: config_name))
