"""The wait until the nodes of a pool run with several MachineConfigs; each restarts with what there is by its turn."""

import pulumi
from pydantic import Field

from components.base.component import Component
from components.base.model import DnsName, Model, Seconds
from components.nodes.machine_config import rollout


class PoolRolloutArgs(Model):
    """What to wait for; whoever makes the MachineConfigs comes before, through `depends_on`."""

    pool: DnsName = Field(default="worker", description="MachineConfigPool of the GPU nodes")
    parts: dict[str, str] = Field(
        min_length=1,
        description="names of MachineConfigs, each with a digest: `parts` of the components that make them",
    )
    rollout_timeout: Seconds = Field(default=3600, description="seconds; nodes drain and reboot one after another")


class PoolRollout(Component):
    """One patch of the pool that waits, again whenever a part changes. Outputs: `pool`, known when it is done."""

    pool: pulumi.Output[str]

    def __init__(self, name: str, args: PoolRolloutArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("nodes:PoolRollout", name, args, opts)
        patch = rollout(self, name, args.pool, args.parts, timeout=args.rollout_timeout)
        self.outputs(pool=patch.id.apply(lambda _: args.pool))
