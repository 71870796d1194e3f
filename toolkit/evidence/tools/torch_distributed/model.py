"""The figures of what PyTorch reports of a job's processes."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal, NamedTuple

from pydantic import Field

from toolkit.evidence.model import Reading, Record, Unread
from toolkit.evidence.wording import listed


class TimedOut(Record):
    """A collective operation that did not end in time, as a rank's watchdog reports it."""

    rank: int | None = Field(description="None: not printed")
    work: int = Field(description="number of the operation in its process group")
    operation: str = Field(description="e.g. ALLREDUCE")
    seconds: float | None = Field(description="that it ran; None: not printed")
    group: str = Field(
        default="", description="of the process group, as printed; empty: releases before 2.2 print none"
    )


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
    time: str | None = Field(default=None, description="as printed, by the clock of its pod; None: no table")
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


AGENT_ENDED, WATCHDOG_ENDED = -15, -6
"""Exit codes that follow another failure: torchrun ends the others, the watchdog a process that waited in vain."""


def root_causes(exits: Sequence[Exit]) -> tuple[Exit, ...]:
    """Return what failed first of all pods: each torchrun knows the times of its own processes alone.

    A process that torchrun or the watchdog ended comes after one that failed by itself in the same second. Without
    times it is what each torchrun names.
    """
    own = [row for row in exits if row.code != AGENT_ENDED] or list(exits)
    timed = [row for row in own if row.time is not None]
    if not timed:
        return tuple(row for row in own if row.first)
    first = min(timed, key=lambda row: (row.time or "", row.code == WATCHDOG_ENDED, not row.first))
    return (first,)


class Waiting(NamedTuple):
    """Ranks that wait in an operation that others of their group have completed."""

    ranks: tuple[int, ...]
    work: int
    others: int
    """The lowest number in which those wait."""
    line: int

    def __str__(self) -> str:
        """Return who waits in what."""
        who = "rank {} waits" if len(self.ranks) == 1 else "ranks {} wait"
        what = f"in operation {self.work}, which those that wait in {self.others} have completed"
        return f"{who.format(listed(map(str, self.ranks)))} {what}"


def left_waiting(rows: Sequence[TimedOut]) -> tuple[Waiting, ...]:
    """Return the ranks whose operation timed out that others of their process group had completed.

    A rank that is named waits: where all wait in the same operation, the culprit is one that is not named at all.
    """
    groups: dict[str, list[TimedOut]] = defaultdict(list)
    for row in rows:
        if row.rank is not None:
            groups[row.group].append(row)
    waiting = []
    for named in groups.values():
        numbers = sorted({row.work for row in named})
        ranks = tuple(sorted({row.rank for row in named if row.rank is not None and row.work == numbers[0]}))
        if len(numbers) > 1 and len(ranks) < len({row.rank for row in named}):
            waiting.append(Waiting(ranks, numbers[0], numbers[1], named[0].line))
    return tuple(waiting)


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
