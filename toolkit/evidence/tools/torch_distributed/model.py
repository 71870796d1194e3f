"""The figures of what PyTorch reports of a job's processes."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal, NamedTuple

from pydantic import Field

from toolkit.evidence.model import Reading, Record, Unread


class TimedOut(Record):
    """A collective operation that did not end in time, as a rank's watchdog reports it."""

    rank: int | None = Field(description="None: not printed")
    work: int = Field(description="number of the operation in its process group")
    operation: str = Field(description="e.g. ALLREDUCE")
    seconds: float | None = Field(description="that it ran; None: not printed")


class Progress(Record):
    """How far a rank had got in a process group when its watchdog reported a failure."""

    rank: int
    group: str = Field(description="of the process group, as printed, e.g. 0(default_pg)")
    enqueued: int = Field(description="number of the last operation that it started; -1: none")
    completed: int = Field(description="number of the last one that ended; -1: none")


class Named(Record):
    """Ranks that PyTorch itself names as behind: its report of a desynchronisation, or its monitored barrier."""

    ranks: tuple[int, ...]


class Meeting(Record):
    """Processes that did not find each other: at their store, or at torchrun's rendezvous."""

    kind: Literal["clients", "connect", "listen", "rendezvous"] = Field(
        description="clients: too few joined; connect: no answer; listen: the port could not be opened; rendezvous: "
        "torchrun's own"
    )
    host: str | None = Field(default=None, description="that did not answer")
    port: int | None = Field(default=None, description="of the store")
    joined: int | None = Field(default=None, description="processes, or nodes, that were there")
    expected: int | None = Field(default=None, description="processes, or nodes, that were to be there")
    seconds: int | None = Field(default=None, description="until it gave up")
    why: str | None = Field(default=None, description="error, as printed")


class Exit(Record):
    """A process that failed, as torchrun's table has it, or where that is not there, its line before the table."""

    rank: int | None = Field(description="None: no table")
    local_rank: int
    host: str | None = None
    code: int = Field(description="exit status; negative: the signal that ended it")
    first: bool = Field(description="whether torchrun names it as the root cause")


class TorchDistributed(Reading):
    """What PyTorch's watchdog, store and torchrun report."""

    timed_out: tuple[TimedOut, ...]
    progress: tuple[Progress, ...]
    behind: tuple[int, ...] = Field(
        description="ranks that did not reach what others of their group waited for, by their progress or by name"
    )
    named: tuple[Named, ...] = Field(default=(), description="what PyTorch itself says of them")
    meetings: tuple[Meeting, ...]
    exits: tuple[Exit, ...]
    stuck: tuple[int, ...] = Field(description="ranks whose watchdog itself stood still")
    succeeded: bool = Field(description="whether torchrun reports that its processes have ended well")
    failures: tuple[Unread, ...] = Field(description="lines that report a failure; of many the first")

    def _figures(self) -> str:
        counts = {
            "time-outs": len(self.timed_out),
            "ranks behind": len(self.behind),
            "failed rendezvous": len(self.meetings),
            "failed processes": len(self.exits),
        }
        return ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "no failure"


class Behind(NamedTuple):
    """A rank that did not reach an operation for which others of its group wait."""

    progress: Progress
    awaited: int
    """Number of that operation."""

    def __str__(self) -> str:
        """Return how far it got."""
        done, rank = self.progress.completed, self.progress.rank
        if done + 1 == self.awaited:
            return f"rank {rank} is behind: it did not start operation {self.awaited}, for which others wait"
        return f"rank {rank} is behind: it completed {max(done, 0)} of {self.awaited - 1} operations"


def ranks_behind(rows: Sequence[Progress]) -> tuple[Behind, ...]:
    """Return the ranks that did not reach what others of their group wait for.

    Ranks that all wait for one operation have completed the one before it. One that has completed fewer, or has not
    started the one that they wait for, is behind.
    """
    groups: dict[str, list[Progress]] = defaultdict(list)
    for row in rows:
        groups[row.group].append(row)
    behind: dict[int, Behind] = {}
    for ranks in groups.values():
        done = max(row.completed for row in ranks)
        waits = any(row.completed == done < row.enqueued for row in ranks)
        for row in ranks:
            if row.completed < done or (waits and row.enqueued <= done):
                behind.setdefault(row.rank, Behind(row, done + 1))
    return tuple(behind.values())
