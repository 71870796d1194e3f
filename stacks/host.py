"""The host layer: what the nodes must be before anything runs on them."""

import pulumi

from components.memlock import Memlock, MemlockArgs
from components.node_labels import NodeLabels, NodeLabelsArgs
from stacks.releases import RELEASES
from stacks.settings import Settings

SCALE_LABEL = "scale"


def build(settings: Settings, opts: pulumi.ResourceOptions) -> pulumi.Output[str]:
    """Label the Spectrum Scale clients and lift the memlock limit; return the MachineConfig's name."""
    clients = tuple(node.name for node in settings.nodes if node.scale_client)
    NodeLabels("scale-clients", NodeLabelsArgs(nodes=clients, labels={SCALE_LABEL: "true"}), opts=opts)
    memlock = Memlock(
        "memlock",
        MemlockArgs(pool=settings.machine_config_pool, ignition_version=RELEASES[settings.release].ignition_version),
        opts=opts,
    )
    return memlock.machine_config
