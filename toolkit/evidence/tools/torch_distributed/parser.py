"""Reads what PyTorch's watchdog over NCCL, its store and torchrun print when a job's processes fail."""

import re

from toolkit.evidence.model import Unread
from toolkit.evidence.parser import Common, Parser, Taken, ending
from toolkit.evidence.secrets import masked
from toolkit.evidence.text import Line
from toolkit.evidence.tools.torch_distributed import messages
from toolkit.evidence.tools.torch_distributed.model import (
    Exit,
    Meeting,
    Named,
    Progress,
    TimedOut,
    TorchDistributed,
    ranks_behind,
)

_LONGEST = 8192
_MOST = 10_000
"""Rows of a kind that are stored: a job has as many ranks at most."""
_LINES = 200
_NUMBERS = 1 << 53
"""No job has so many operations: what is larger was never set."""


class TorchDistributedParser(Parser):
    """Reads a job's processes together: the failures of all ranks are one reading."""

    tool = "torch-distributed"
    kind = TorchDistributed
    starts = messages.STARTS

    def __init__(self) -> None:
        self._timed_out: dict[tuple[int | None, int], TimedOut] = {}
        self._progress: dict[tuple[str, int], Progress] = {}
        self._named: dict[tuple[int, ...], Named] = {}
        self._stuck: dict[int, None] = {}
        self._meetings: dict[tuple[str, str | None, int | None], Meeting] = {}
        self._exits: dict[int, Exit] = {}
        self._ended: list[Exit] = []
        self._failures: list[Unread] = []
        self._succeeded = self._first = self._in_table = False
        self._row: dict[str, str] = {}

    def ignores(self, text: str) -> bool:
        """Return whether a line is none of its own."""
        return not any(pattern.search(text) for pattern in (messages.FAILED, messages.SUCCEEDED)) and (
            messages.TABLE.match(text) is None
        )

    def feed(self, line: Line) -> Taken:
        """Read a line."""
        text = line.text
        if len(text) > _LONGEST or messages.HARMLESS.match(text) is not None:
            succeeded = messages.SUCCEEDED.search(text, 0, _LONGEST) is not None
            self._succeeded = self._succeeded or succeeded
            return Taken.YES if succeeded else Taken.NO
        if messages.FAILED.search(text) is not None:
            return self._failed(line)
        if messages.SUCCEEDED.search(text) is not None:
            self._succeeded = True
            return Taken.YES
        return self._tabled(line) if messages.TABLE.match(text) is not None else Taken.NO

    def _failed(self, line: Line) -> Taken:
        readers = (
            self._read_timed_out,
            self._read_progress,
            self._read_named,
            self._read_stuck,
            self._read_meeting,
            self._read_ended,
        )
        if not any(read_line(line) for read_line in readers):
            return Taken.NO
        self._fails(line)
        return Taken.YES

    def _fails(self, line: Line) -> None:
        self._succeeded = False
        if len(self._failures) < _LINES:
            self._failures.append(Unread(line=line.number, text=masked(line.text)))

    def _read_timed_out(self, line: Line) -> bool:
        match = messages.TIMED_OUT.search(line.text)
        if match is None:
            return False
        rank = _global_rank(line, match["rank"])
        row = TimedOut(
            rank=rank,
            work=int(match["work"]),
            operation=match["operation"],
            seconds=int(match["ms"]) / 1000 if match["ms"] else None,
            group=(match["group"] or "").strip(),
            line=line.number,
        )
        if len(self._timed_out) < _MOST:
            self._timed_out.setdefault((rank, row.work), row)
        return True

    def _read_progress(self, line: Line) -> bool:
        match = messages.PROGRESS.search(line.text)
        if match is None:
            return False
        rank = _global_rank(line, match["rank"] or match["only"])
        enqueued, completed = int(match["enqueued"]), int(match["completed"])
        if rank is not None and enqueued < _NUMBERS and len(self._progress) < _MOST:
            row = Progress(
                rank=rank,
                group=(match["group"] or "").strip(),
                enqueued=enqueued,
                # Releases before 2.4 print a number that was never set.
                completed=completed if completed <= enqueued else -1,
                line=line.number,
            )
            self._progress.setdefault((row.group, rank), row)
        return True

    def _read_named(self, line: Line) -> bool:
        match = messages.NAMED.search(line.text)
        if match is None:
            return False
        text = match["missing"] or match["lagging"] or match["barred"]
        ranks = tuple(int(rank) for rank in re.findall(rf"\d{{1,{_DIGITS}}}", text)[:_MOST])
        if len(self._named) < _LINES:
            self._named.setdefault(ranks, Named(ranks=ranks, line=line.number))
        return True

    def _read_stuck(self, line: Line) -> bool:
        match = messages.STUCK.search(line.text)
        rank = _global_rank(line, match["rank"]) if match is not None else None
        if rank is not None and len(self._stuck) < _MOST:
            self._stuck[rank] = None
        return match is not None

    def _read_meeting(self, line: Line) -> bool:
        text, number = line.text, line.number
        if (match := messages.JOINED.search(text) or messages.BARRIER.search(text)) is not None:
            counts = {key: int(value) for key, value in match.groupdict().items()}
            return self._meet(Meeting.model_validate({"kind": "clients", "line": number, **counts}))
        if (match := messages.CONNECT.search(text)) is not None:
            limit = int(match["limit"] or 0) // (1000 if match["unit"] == "ms" else 1) or None
            return self._meet(
                Meeting(kind="connect", host=match["host"], port=_port(match["port"]), seconds=limit, line=number)
            )
        if (match := messages.IN_USE.search(text)) is not None:
            why = match["message"] or "address already in use"
            return self._meet(Meeting(kind="listen", port=_port(match["port"]), why=why, line=number))
        if (match := messages.LISTEN.search(text)) is not None:
            return self._meet(Meeting(kind="listen", port=_port(match["bound"]), why=match["error"], line=number))
        if (match := messages.RENDEZVOUS.search(text)) is not None:
            return self._meet(Meeting(kind="rendezvous", why=masked(match["why"] or match["error"]), line=number))
        return False

    def _meet(self, row: Meeting) -> bool:
        if len(self._meetings) < _MOST:
            key = (row.kind, row.host, row.port)
            self._meetings.setdefault(key, row)
            if row.kind == "listen" and row.port is not None:
                self._meetings.pop(("listen", None, None), None)
        return True

    def _read_ended(self, line: Line) -> bool:
        match = messages.EXITED.search(line.text)
        if match is not None and len(self._ended) < _LINES:
            code, local = int(match["code"]), int(match["local"])
            self._ended.append(Exit(rank=None, local_rank=local, code=code, first=True, line=line.number))
        return match is not None

    def _tabled(self, line: Line) -> Taken:
        text = line.text
        if text.endswith("Failures:") or text.startswith("Root Cause"):
            self._in_table, self._first = True, text.startswith("Root Cause")
        elif not self._in_table:
            return Taken.NO
        elif text.startswith("["):
            self._row = {}
        elif (match := messages.FIELD.fullmatch(text)) is not None:
            self._row[match["name"]] = match["value"]
            if match["name"] == "exitcode":
                self._exit(line)
            elif match["name"] == "traceback":
                self._in_table = not self._first
        return Taken.YES

    def _exit(self, line: Line) -> None:
        ranked = messages.RANKED.match(self._row.get("rank", ""))
        code = messages.EXIT_CODE.match(f"{self._row['exitcode']} ")
        if ranked is None or code is None or len(self._exits) >= _MOST:
            return
        rank = int(ranked["rank"])
        self._exits[rank] = Exit(
            rank=rank,
            local_rank=int(ranked["local"]),
            host=self._row.get("host"),
            time=self._row.get("time"),
            code=int(code["code"]),
            first=self._first,
            line=line.number,
        )
        self._fails(line)

    def reading(self, common: Common) -> TorchDistributed:
        """Return what was read, which is whole: whether the job went on is for others to show."""
        progress = tuple(self._progress.values())
        by_progress = (behind.progress.rank for behind in ranks_behind(progress))
        return TorchDistributed(
            **common,
            **ending(),
            timed_out=tuple(self._timed_out.values()),
            progress=progress,
            behind=tuple(sorted({*by_progress, *(rank for row in self._named.values() for rank in row.ranks)})),
            named=tuple(self._named.values()),
            meetings=tuple(self._meetings.values()),
            exits=tuple(self._exits.values()) or tuple(self._ended),
            stuck=tuple(self._stuck),
            succeeded=self._succeeded,
            failures=tuple(self._failures),
        )


_SOURCE = re.compile(r"(?:rank=?)?(?P<rank>\d{1,7})")
_DIGITS = 7
"""Of a rank, at most."""


def _global_rank(line: Line, printed: str | None) -> int | None:
    """Return the rank among all processes: PyTorch puts it before the line; what a group prints is the group's."""
    match = messages.GLOBAL_RANK.search(line.text) or _SOURCE.fullmatch(line.source)
    rank = match["rank"] if match is not None else printed
    return int(rank) if rank is not None and len(rank) <= _DIGITS else None


def _port(text: str | None) -> int | None:
    return int(text) if text else None
