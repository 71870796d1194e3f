"""A workload as another scheduler starts it."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from core.model import Model


class BatchMount(Model):
    """A folder of a container."""

    at: str
    volume: str = Field(description="of the tenant, by its name")
    folder: str = Field(description="of the volume, from its root; empty: all of it")
    read_only: bool


class PodJob(Model):
    """A workload that pods of the cluster alone can be, and no other scheduler starts."""

    name: str
    why: str
    remedy: str


class BatchJob(Model):
    """A workload, with the arguments that its pods have."""

    tenant: str = Field(description="namespace of its pods")
    name: str
    starter: Literal["mpi", "torch", "one"] = Field(description="a process each, torchrun on each node, or one node")
    nodes: int
    tasks: int = Field(description="of each node")
    gpus: int = Field(description="of each node")
    cpus: int = Field(description="of each node")
    memory: str = Field(description="of each node, as Kubernetes writes it, e.g. 992Gi")
    together: bool = Field(description="all nodes must share a leaf switch")
    image: str | None = Field(description="as pods have it; None: the stack gives none")
    build: str | None = Field(description="of the stack, where the image is one that the cluster builds")
    command: tuple[str, ...]
    working_directory: str | None
    environment: Mapping[str, str]
    mounts: tuple[BatchMount, ...]
    data_set: str | None = Field(description="whose lock is proved before the program starts")
