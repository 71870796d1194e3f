"""Settings of the levels of the fabric, and of how close to each other the pods of a job run."""

from typing import Self

from pydantic import Field, model_validator

from components.base.model import DnsLabel, Model, merged_by
from components.base.scheduling import MOST_LEVELS, TopologyLevel, distinct


class TopologyRequest(Model):
    """How close to each other the pods of a job with GPUs must or should run."""

    required: DnsLabel | None = Field(
        default=None, description="level at which one domain must hold all pods, e.g. leaf; otherwise the job waits"
    )
    preferred: DnsLabel | None = Field(
        default=None,
        description="level at which one domain holds all pods if there is room; otherwise as few as possible",
    )

    @model_validator(mode="after")
    def _required_or_preferred(self) -> Self:
        if (self.required is None) == (self.preferred is None):
            state = "both are" if self.required else "neither is"
            raise ValueError(f"required and preferred: {state} given; give one of them")
        return self


class TopologySettings(Model):
    """Topology-aware scheduling: Kueue admits a job when its pods fit on nodes as they are, and assigns the nodes."""

    levels: tuple[TopologyLevel, ...] = Field(
        default=(),
        max_length=MOST_LEVELS - 1,
        description="levels above the hosts, widest first; none: those of core, spine, leaf and accelerator that "
        "`nodes[].topology` or the reference design's cabling has",
        json_schema_extra=merged_by("name"),
    )
    jobs: TopologyRequest | None = Field(
        default=None,
        description="request of multi-pod workloads without their own `topology`, in pools that have its level; None: "
        "any nodes",
    )

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        if problem := distinct(self.levels):
            raise ValueError(problem)
        return self
