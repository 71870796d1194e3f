"""Unlimited locked memory for containers, through the container runtime's unit on every node of a pool.

IPC_LOCK alone does nothing for a process that is not root: the limit itself must be lifted, or registering
memory for RDMA fails with "Couldn't allocate MR". The paper edits a unit file manually, which the next update
overwrites; a MachineConfig survives it.
"""

from typing import Any

import pulumi
from pydantic import Field

from components.base.component import Component
from components.base.model import DnsName, Model, Seconds
from components.nodes.machine_config import Ignition, digest, machine_config, rollout

DROP_IN = "10-memlock.conf"
UNITS = ("crio.service", "cri-o.service")
"""The runtime's unit is called crio on OpenShift 4; the paper's RHEL nodes have it under the older name."""


class MemlockArgs(Model):
    """How to lift the limit, and for which pool."""

    pool: DnsName = Field(default="worker", description="MachineConfigPool of the GPU nodes; its nodes reboot")
    stack_mib: int | None = Field(
        default=None,
        gt=0,
        le=1024,
        description="MiB that the stack of a container's process may have; None: the runtime's",
    )
    ignition_version: Ignition = Field(description="2.2.0 up to OpenShift 4.5, 3.x from 4.6 on")
    rollout_timeout: Seconds | None = Field(
        default=3600,
        description="seconds; nodes drain and reboot one after another. None leaves the wait to a PoolRollout",
    )


def machine_config_name(pool: str) -> str:
    """Return the name of the MachineConfig; the number decides the order of merging, as is custom."""
    return f"50-{pool}-crio-memlock"


def ignition(version: str, stack_mib: int | None = None) -> dict[str, Any]:
    """Return the Ignition configuration with the drop-in for both names of the unit."""
    stack = f"LimitSTACK={stack_mib << 20}\n" if stack_mib else ""
    drop_in = {"name": DROP_IN, "contents": f"[Service]\nLimitMEMLOCK=infinity\n{stack}"}
    return {
        "ignition": {"version": version},
        "systemd": {"units": [{"name": unit, "dropins": [drop_in]} for unit in UNITS]},
    }


class Memlock(Component):
    """A MachineConfig, and the wait until every node of its pool runs with it.

    Outputs: `machine_config`, its name, known only once the pool has rolled it out. `parts` is for a PoolRollout.
    """

    machine_config: pulumi.Output[str]

    def __init__(self, name: str, args: MemlockArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("nodes:Memlock", name, args, opts)
        config_name = machine_config_name(args.pool)
        config = ignition(args.ignition_version, args.stack_mib)
        awaited: pulumi.CustomResource = machine_config(
            self, name, args.pool, {"config": config}, config_name=config_name, subject="crio-memlock"
        )
        self.parts = {config_name: digest(config)}
        if args.rollout_timeout is not None:
            awaited = rollout(self, name, args.pool, self.parts, timeout=args.rollout_timeout, after=[awaited])
        self.outputs(machine_config=awaited.id.apply(lambda _: config_name))
