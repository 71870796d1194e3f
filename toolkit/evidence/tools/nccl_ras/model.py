"""What NCCL's RAS knows of the processes and ranks of a job."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from core.wording import plural
from toolkit.evidence.model import Reading, Record


class Process(Record):
    """A process that did not answer."""

    state: Literal["missing", "dead"] = Field(description="missing: no data of it; dead: not reached any more")
    pid: int
    node: str = Field(description="address")
    gpus: str = Field(description="as printed, e.g. 0,1")


class Rank(Record):
    """A rank of a communicator that differs from most."""

    communicator: str = Field(description="as printed: #GROUP-NUMBER, or its hash")
    rank: int = Field(description="in the communicator")
    fact: Literal["missing", "launched", "status", "error"] = Field(
        description="missing: no data of it; launched: how many operations it started"
    )
    value: str = Field(description="operation and number, status, or error; empty: missing")
    launched: int | None = Field(default=None, description="number of the last operation; None: of another fact")
    most: int | None = Field(default=None, description="the highest number of its communicator's ranks")
    pid: int | None = Field(default=None, description="None: not printed")
    node: str | None = Field(default=None, description="address; None: not printed")
    gpu: str | None = Field(default=None, description="of the process; None: not printed")

    @property
    def is_behind(self) -> bool:
        """Return whether others of its communicator have started more operations."""
        return self.launched is not None and self.most is not None and self.launched < self.most

    def __str__(self) -> str:
        """Return what is wrong with it, and where it runs."""
        facts: Mapping[str, str] = {
            "missing": "does not answer",
            "launched": f"has launched {self.value}, others up to {self.most}",
            "status": f"has status {self.value}",
            "error": f"reports {self.value}",
        }
        where = f" (process {self.pid} on {self.node}, GPU {self.gpu})" if self.node else ""
        return f"rank {self.rank} of {self.communicator}{where} {facts[self.fact]}"


class NcclRas(Reading):
    """One answer of RAS, as text or JSON."""

    processes_total: int | None = Field(default=None, description="of the job; None: not printed")
    communicators: int = Field(description="of the job")
    processes: tuple[Process, ...] = Field(description="that do not answer, where few enough are named")
    silent: int = Field(description="processes that do not answer, named or not")
    ranks: tuple[Rank, ...] = Field(description="that differ from most")
    timeouts: int = Field(default=0, description="while it was collected")

    def _figures(self) -> str:
        wrong = [f"{plural(self.silent, 'process', 'processes')} silent"] if self.silent else []
        wrong += [f"{plural(len(self.ranks), 'rank')} apart"] if self.ranks else []
        return f"{plural(self.communicators, 'communicator')}, {', '.join(wrong) or 'all ranks alike'}"
