"""Unlimited locked memory for containers, through the container runtime's unit on every node of a pool.

IPC_LOCK alone does nothing for a process that is not root (E-19a): the limit itself must be lifted, or registering
memory for RDMA fails with "Couldn't allocate MR" (R-3.4.3-9). The paper edits a unit file by hand, which the next
update overwrites (E-19); a MachineConfig survives it.
"""

import hashlib
import json
from typing import Any, Literal

import pulumi
from pulumi_kubernetes import apiextensions, meta
from pydantic import Field

from apis import kinds, names
from components import waits
from components.component import Component
from components.custom_resources import CustomObject
from components.labels import labels
from components.model import DnsName, Model, Seconds

DROP_IN = "10-memlock.conf"
UNITS = ("crio.service", "cri-o.service")
"""The runtime's unit is called crio on OpenShift 4; the paper's RHEL nodes have it under the older name (E-19)."""


class MemlockArgs(Model):
    """How to lift the limit, and for which pool."""

    pool: DnsName = Field(default="worker", description="MachineConfigPool of the GPU nodes; its nodes reboot")
    ignition_version: Literal["2.2.0", "3.2.0"] = Field(description="2.2.0 up to OpenShift 4.5, 3.x from 4.6 on")
    rollout_timeout: Seconds = Field(default=3600, description="seconds; nodes drain and reboot one after another")


def machine_config_name(pool: str) -> str:
    """Return the name of the MachineConfig; the number decides the order of merging, as is custom."""
    return f"50-{pool}-crio-memlock"


def ignition(version: str) -> dict[str, Any]:
    """Return the Ignition configuration with the drop-in for both names of the unit."""
    drop_in = {"name": DROP_IN, "contents": "[Service]\nLimitMEMLOCK=infinity\n"}
    return {
        "ignition": {"version": version},
        "systemd": {"units": [{"name": unit, "dropins": [drop_in]} for unit in UNITS]},
    }


class Memlock(Component):
    """A MachineConfig, and the wait until every node of its pool runs with it.

    Outputs: `machine_config`, its name, known only once the pool has rolled it out.
    """

    machine_config: pulumi.Output[str]

    def __init__(self, name: str, args: MemlockArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("nodes:Memlock", name, args, opts)
        config_name = machine_config_name(args.pool)
        config = ignition(args.ignition_version)
        machine_config = CustomObject(
            f"{name}-machine-config",
            kinds.MACHINE_CONFIG,
            meta.v1.ObjectMetaArgs(
                name=config_name,
                labels={**labels("crio-memlock", "nodes"), names.MACHINE_CONFIG_ROLE: args.pool},
            ),
            {"spec": {"config": config}},
            self.child(),
        )
        digest = hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()[:16]
        rollout = apiextensions.CustomResourcePatch(
            f"{name}-rollout",
            api_version=kinds.MACHINE_CONFIG_POOL.api_version,
            kind=kinds.MACHINE_CONFIG_POOL.kind,
            metadata=meta.v1.ObjectMetaArgs(
                name=args.pool,
                annotations={
                    names.AWAITED: digest,
                    **waits.wait_for(
                        [
                            waits.exists(f'.status.configuration.source[?(@.name=="{config_name}")].name'),
                            waits.condition("Updated"),
                        ],
                        timeout=args.rollout_timeout,
                    ),
                },
            ),
            opts=self.child(machine_config),
        )
        self.outputs(machine_config=rollout.id.apply(lambda _: config_name))
