"""The program shared-data: whether what one pod writes into the tenant's volume is what the others read."""

import re

from pydantic import Field

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, readings_of, row_proofs
from toolkit.evidence.model import Reading, Record
from toolkit.evidence.parser import Common, Parser, Taken, ending
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed

SAME = "same"
_LINE = re.compile(
    r"shared-data: rank (?P<rank>\d{1,7}) of (?P<ranks>\d{1,7}) on (?P<host>\S{1,253}) "
    r"(?:wrote (?P<mib>\d{1,7}) MiB|read rank (?P<other>\d{1,7}): (?P<result>same|different|not seen))",
    re.ASCII,
)


class SharedRead(Record):
    """What a rank read of another one's file."""

    rank: int = Field(description="that read")
    host: str = Field(description="its pod")
    other: int = Field(description="rank whose file it is")
    result: str = Field(description="same, different (by their checksums), or not seen (for two minutes)")


class SharedData(Reading):
    """A run of the program."""

    ranks: int = Field(description="of the job")
    writers: int = Field(description="ranks that wrote their file")
    rows: tuple[SharedRead, ...]

    def _figures(self) -> str:
        same = sum(row.result == SAME for row in self.rows)
        return f"{same} of {plural(self.ranks * (self.ranks - 1), 'file')} read as written"


class SharedDataParser(Parser):
    """Reads the lines of all ranks, in any order."""

    tool = "shared-data"
    kind = SharedData
    starts = r"shared-data: rank "

    def __init__(self) -> None:
        self._ranks = 0
        self._writers: set[int] = set()
        self._rows: dict[tuple[int, int], SharedRead] = {}

    def feed(self, line: Line) -> Taken:
        """Read a line of a rank."""
        if (match := _LINE.fullmatch(line.text)) is None:
            return Taken.DAMAGED if line.text.startswith("shared-data: ") else Taken.NO
        rank, ranks = int(match["rank"]), int(match["ranks"])
        again = rank in self._writers if match["mib"] else (rank, int(match["other"])) in self._rows
        if again or (self._ranks and ranks != self._ranks):
            return Taken.AGAIN
        self._ranks = ranks
        if match["mib"]:
            self._writers.add(rank)
        else:
            other = int(match["other"])
            self._rows[rank, other] = SharedRead(
                rank=rank, host=match["host"], other=other, result=match["result"], line=line.number
            )
        return Taken.YES

    def ignores(self, text: str) -> bool:
        """Return whether a line is not a rank's."""
        return not text.startswith("shared-data: ")

    def reading(self, common: Common) -> SharedData:
        """Return who read what."""
        missing = self._ranks * (self._ranks - 1) - len(self._rows)
        return SharedData(
            **ending(f"{plural(missing, 'file')} not read" if missing > 0 else None),
            ranks=self._ranks,
            writers=len(self._writers),
            rows=tuple(self._rows.values()),
            **common,
        )


def _shared(job: Job) -> Outcome | None:
    runs = readings_of(job, SharedData)
    differing = [(run.file, row) for run in runs for row in run.rows if row.result != SAME]
    if differing:
        what = listed(f"rank {row.rank} read rank {row.other}: {row.result}" for _, row in differing)
        return Outcome(Status.FAIL, what, proofs=row_proofs(differing))
    if any(run.ranks < 2 or not run.complete for run in runs):  # noqa: PLR2004 - no other rank wrote
        return Outcome(Status.MISSING, listed(run.figures() for run in runs))
    spans_nodes = len(job.request.nodes) != 1
    where = "" if spans_nodes else ", all on one node"
    return Outcome(Status.PASS if spans_nodes else Status.WARN, listed(f"{run.figures()}{where}" for run in runs))


CRITERIA = (
    Criterion(
        name="shared-data",
        title="Files written on one node can be read on another",
        limit="every file as written",
        unit="files",
        tolerance="pods on a single node are a warning: nothing passed between nodes",
        applies="runs of the program shared-data",
        source="R-5.2-4",
        judge=_shared,
    ),
)
