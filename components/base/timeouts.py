"""How long an update waits for each part of a platform, where images take minutes to pull and nodes to restart.

A part that has failed ends an update under `./hpc up` long before (docs/reference/waits.md); these bounds are for what
is alive and slow, and for plain `pulumi up`, which learns of a failure by them alone.
"""

from pydantic import Field

from components.base.model import Model, Seconds

LONGEST = 7 * 24 * 3600
"""Seconds that anything is waited for at most."""


class Timeouts(Model):
    """Seconds, each for one object; nodes that restart have `reboot_minutes`, and a job may have its own `timeout`."""

    failed_after: Seconds = Field(
        default=35,
        description="how long a recoverable failure must last before `./hpc up` stops: the kubelet's first two "
        "back-offs between restarts and pulls (10 and 20) and the retry after them, in all less than a minute",
    )
    operator: Seconds = Field(
        default=1800,
        description="until OLM has installed an operator: its catalogue, the bundle (OLM unpacks for 600 at most), "
        "images, and the Deployment (OLM retries after 300). With `approval: Manual` also a user's approval",
    )
    node_features: Seconds = Field(default=900, description="until node feature discovery is ready on every node")
    driver: Seconds = Field(
        default=3600,
        description="until GPU or adapter drivers run on all nodes: images of several GB, compiled for the node's "
        "kernel where no precompiled one is used, and validated",
    )
    driver_per_node: Seconds = Field(
        default=1200,
        description="per node, where a new driver version rolls out node by node (`auto_upgrade`, one at a time); "
        "`driver` is the minimum",
    )
    agents: Seconds = Field(default=900, description="until NMState's agents are on all nodes")
    network_policy: Seconds = Field(default=1800, description="minimum, until all nodes have an NMState policy")
    network_policy_per_node: Seconds = Field(
        default=120, description="per node: NMState applies a policy node by node, and rolls back what fails"
    )
    network: Seconds = Field(default=300, description="until the operator has created a NetworkAttachmentDefinition")
    kubelet_config: Seconds = Field(default=300, description="until OpenShift has accepted it; no node restarts yet")
    plugin: Seconds = Field(
        default=1200, description="until a device plugin's image is pulled and it runs on all nodes"
    )
    plugin_per_node: Seconds = Field(
        default=60, description="per node: a changed plugin rolls out node by node; `plugin` is the minimum"
    )
    controller: Seconds = Field(
        default=1200,
        description="until a job controller, such as the MPI operator, is pulled and runs",
    )
    kueue: Seconds = Field(default=900, description="until all replicas of Kueue's controller are ready")
    queue: Seconds = Field(default=300, description="until a queue is active")
    storage_driver: Seconds = Field(default=1800, description="until the storage driver runs on every client")
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
        return _all(self.driver, self.driver_per_node if one_by_one else 0, nodes)

    def network_policies(self, nodes: int) -> int:
        """Return how long a network policy may take on all nodes."""
        return _all(self.network_policy, self.network_policy_per_node, nodes)

    def plugins(self, nodes: int) -> int:
        """Return how long a device plugin may take on all nodes."""
        return _all(self.plugin, self.plugin_per_node, nodes)


DEFAULTS = Timeouts()


def _all(least: int, per_node: int, nodes: int) -> int:
    return min(max(least, per_node * nodes), LONGEST)
