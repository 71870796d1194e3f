"""Pods, GPUs and nodes of a job, and their short form in its name (R-4.3-2)."""

from pydantic import Field

from components.model import Model


class Layout(Model):
    """How many worker pods, and how many GPUs each."""

    pods: int = Field(gt=0, le=999, description="worker pods")
    gpus: int = Field(gt=0, le=16, description="GPUs per pod")
    nodes: int | None = Field(
        default=None, gt=0, le=999, description="only part of the job's name; the scheduler places pods"
    )

    def __str__(self) -> str:
        """Return pods x GPUs per pod x nodes, at least two digits each, e.g. 02x08x02."""
        return "x".join(f"{number:02d}" for number in (self.pods, self.gpus, self.nodes) if number is not None)

    @property
    def total_gpus(self) -> int:
        """GPUs of the whole job."""
        return self.pods * self.gpus
