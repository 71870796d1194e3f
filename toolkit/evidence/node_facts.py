"""What the API server reports of the nodes: the evidence that no log holds."""

from collections.abc import Mapping

from pydantic import Field

from core.model import Model
from toolkit.evidence.model import Reading

NODE_FACTS = "node-facts"
"""Name of the tool, which is the API server."""


class NodeFact(Model):
    """One node."""

    name: str
    roles: tuple[str, ...] = Field(default=(), description="by its labels node-role.kubernetes.io/")
    ready: bool = Field(description="whether it is Ready")
    schedulable: bool = Field(description="whether new pods may come")
    gpus: int = Field(ge=0, description="nvidia.com/gpu that pods may have")
    instances: Mapping[str, int] = Field(default={}, description="size of MIG instances -> what pods may have of it")
    rdma: Mapping[str, int] = Field(description="resource below rdma/ -> what pods may have of it")
    found_gpu: bool | None = Field(
        default=None, description="whether node feature discovery labels a device of NVIDIA; None: not read"
    )
    gpu_model: str | None = Field(description="as GPU feature discovery labels it; None: not labelled")
    driver: str | None = Field(description="version of the GPU driver, by label; None: not labelled")
    taints: tuple[str, ...] = Field(
        default=(), description="taints that keep pods off, as KEY=VALUE:EFFECT, without those of Kubernetes itself"
    )
    kernel: str
    os_image: str
    kubelet: str


class NodeFacts(Reading):
    """The nodes that jobs may run on."""

    nodes: tuple[NodeFact, ...]
    others: tuple[NodeFact, ...] = Field(default=(), description="nodes of the settings without GPUs")
    pod_mtu: int | None = Field(default=None, gt=0, description="MTU of the pod network, bytes; None: unknown")
