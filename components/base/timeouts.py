"""How long an update waits for each part of a platform, where images take minutes to pull and nodes to restart.

A part that has failed ends an update under `./hpc up` long before (docs/reference/waits.md); these bounds are for what
is alive and slow, and for plain `pulumi up`, which learns of a failure by them alone.
"""

from pydantic import Field

from components.base.model import Model, Seconds

LONGEST = 7 * 24 * 3600
"""Seconds that anything is waited for at most."""
DRIVER_PER_NODE, PLUGIN_PER_NODE, NETWORK_PER_NODE = 1200, 60, 120
"""Seconds for each node of what goes from node to node."""


class Timeouts(Model):
    """Seconds, each for one object; nodes that restart have `reboot_minutes`, and a job may have its own `timeout`."""

    failed_after: Seconds = Field(
        default=35,
        description="how long a recoverable failure must last before `./hpc up` stops: the kubelet's first two "
        "back-offs between restarts and pulls (10 and 20) and the retry after them, in all less than a minute",
    )
    operator: Seconds = Field(
        default=1800,
        description="until an operator is installed, and until what it runs by itself is ready: its controllers, node "
        "features, NMState's agents, the storage driver. OLM unpacks a bundle for 600 at most, and retries a "
        "Deployment after 300. With `approval: Manual` also a user's approval",
    )
    object: Seconds = Field(
        default=300,
        description="until a controller has accepted an object: a queue, a KubeletConfig, or a "
        "NetworkAttachmentDefinition",
    )
    driver: Seconds = Field(
        default=3600,
        description="until GPU or adapter drivers run on all nodes: images of several GB, compiled for the node's "
        "kernel where no precompiled one is used, and validated; 1200 for each node, if that is longer, where a new "
        "version rolls out node by node (`auto_upgrade`)",
    )
    plugin: Seconds = Field(
        default=1200,
        description="until a device plugin's image is pulled and it runs on all nodes; 60 for each node, if longer",
    )
    network_policy: Seconds = Field(
        default=1800,
        description="until all nodes have an NMState policy; 120 for each node, if longer: it is applied node by node",
    )
    build: Seconds = Field(
        default=4 * 3600, description="until the cluster has built and pushed an image, tens of GB with its base"
    )
    job: Seconds = Field(
        default=3600,
        description="how long an update follows a job without its own timeout: until it has finished, or only "
        "started, as its `wait` says; images of tens of GB are pulled first",
    )

    def drivers(self, nodes: int, *, one_by_one: bool) -> int:
        """Return how long drivers may take on all nodes."""
        return _bounded_timeout(self.driver, DRIVER_PER_NODE if one_by_one else 0, nodes)

    def network_policies(self, nodes: int) -> int:
        """Return how long a network policy may take on all nodes."""
        return _bounded_timeout(self.network_policy, NETWORK_PER_NODE, nodes)

    def plugins(self, nodes: int) -> int:
        """Return how long a device plugin may take on all nodes."""
        return _bounded_timeout(self.plugin, PLUGIN_PER_NODE, nodes)


DEFAULTS = Timeouts()


def _bounded_timeout(least: int, per_node: int, nodes: int) -> int:
    return min(max(least, per_node * nodes), LONGEST)
