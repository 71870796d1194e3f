"""What the jobs of a tenant may hold, and how it follows from the machines."""

from pydantic import Field

from components.base.model import Model, Quantity
from core.hardware.placement import Reserve, Share, share
from core.hardware.profiles import Profile
from core.hardware.topology import reserve


class Quota(Model):
    """What the jobs of a tenant may hold at the same time. `quota_of` derives it from the machines."""

    gpus: int = Field(ge=0, description="GPUs")
    cpus: int = Field(ge=0, description="logical CPUs, also those of launchers")
    memory_gib: int = Field(ge=0, description="GiB")
    rdma_pods: int | None = Field(
        default=None,
        ge=0,
        description="pods that hold each RDMA resource; None: as many as GPUs, for a worker has at least one",
    )
    borrows: bool = Field(
        default=True,
        description="whether it may hold more while other tenants of its cohort lend; False: never of this flavor",
    )
    further: dict[str, Quantity] = Field(
        default_factory=dict, description="other resources that pods request, e.g. ephemeral-storage"
    )


def quota_of(profile: Profile, gpus: int, beside: Share | None, kept: Reserve | None = None) -> Quota:
    """Return the quota of a tenant with `gpus` of such machines: what goes with them, and `beside` for launchers.

    `kept` is what a machine keeps for itself; None: as its file has it. With no GPUs it is `beside` alone.
    Raises ValueError where a machine keeps so much for itself that nothing goes with a GPU.
    """
    cpus, memory = (beside.cpus, beside.memory_gib) if beside else (0, 0)
    if gpus:
        part = share(profile, gpus, kept or reserve(profile))
        cpus, memory = cpus + part.cpus, memory + part.memory_gib
    return Quota(gpus=gpus, cpus=cpus, memory_gib=memory)
