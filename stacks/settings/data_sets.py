"""Settings of the data that a tenant's jobs are trained on: a choice, the volume that has it, and its lock."""

from pydantic import Field

from components.base.model import DnsLabel
from components.jobs.job_volumes import DATA
from core.datasets.choice import Choice

FOLDER = "data"
"""Folder of the project that locks are in."""


class DataSetSettings(Choice):
    """One data set of a tenant. `./hpc data select` writes its lock, which you commit: jobs get what is locked."""

    volume: DnsLabel = Field(default=DATA, description="name of the tenant's volume that has the files")
    lock: str | None = Field(
        default=None,
        pattern=r"^(\w[\w.-]*/)*\w[\w.-]*\.lock\.json$",
        description="lock file, relative to the project's folder; None: data/NAME.lock.json",
    )

    link_gbps: float | None = Field(
        default=None,
        gt=0,
        description="slowest link between the source and the volume, Gb/s, for `./hpc hardware show`; None: not known",
    )

    training_minutes: float | None = Field(
        default=None,
        gt=0,
        description="how long a training run with it takes, min: `./hpc hardware show` warns where staging the set "
        "takes longer; the Redpaper's takes 12 with 92 GB. None: not known",
    )

    @property
    def lock_file(self) -> str:
        """The file of the lock, from the project's folder."""
        return self.lock or f"{FOLDER}/{self.name}.lock.json"
