"""Collects what the ranks of one program print; most lines of a big log repeat an earlier one, and cost little."""

from collections.abc import Iterator
from operator import length_hint

from evidence.model import NcclLog
from evidence.nccl_debug import messages
from evidence.nccl_debug.channels import TooMany
from evidence.nccl_debug.line_cache import REMEMBERED, LineCache
from evidence.nccl_debug.messages import End, Kind
from evidence.nccl_debug.program_log import ProgramLog
from evidence.parser import Taken
from evidence.text import Line

_INFO = b" NCCL INFO "
_NO_END = End(0, Kind("", receives=False, device=None, gpudirect=False))
_NEVER_AGAIN = frozenset({b"comm", b"ncclCommInitRank", *(call.encode() for call in messages.CALLS)})
"""First words of messages that hold an address or a count, and so are never repeated."""


class Collector:
    """What the ranks of one program printed."""

    def __init__(self, shared: LineCache) -> None:
        self._shared = shared
        self._log = ProgramLog(shared)
        self._known: dict[bytes, frozenset[str] | set[str]] = {}
        self._heard = False

    def skim(self, lines: Iterator[bytes], last: int) -> bytes | None:
        """Go on to the first line that has to be read with care, and return it; None: there is none.

        `last` is the number of the last of the lines. Those passed over are whole, and NCCL's.
        """
        shared = self._shared
        hosts, ends, alone = shared.hosts, shared.ends, shared.alone
        known, log = self._known, self._log
        proven, add, read = log.proven, log.channels.add, log.read
        if len(known) >= REMEMBERED:
            known.clear()
        for line in lines:
            head, _, message = line.partition(_INFO)
            host = hosts.get(head)
            if host is None and (host := shared.host_of(head)) is None:
                return line
            printed_by = known.get(message)
            if printed_by is not None and host in printed_by:
                continue
            channel, kind = ends.get(message, _NO_END)
            if kind in proven:
                try:
                    if not add(channel, kind, host):
                        # It is stored when it is repeated: a message that is printed once costs less.
                        continue
                except TooMany:
                    return line
            else:
                text = message.decode("utf-8", "replace").rstrip()
                number = last - length_hint(lines)
                # What has to be cleaned first is not printable, and of two lines in one neither is read.
                if " NCCL " in text or not text.isprintable() or not read(number, line, host, text):
                    return line
                self._heard = True
                if message.partition(b" ")[0] in _NEVER_AGAIN:
                    continue
            # A message of one host has that host's set, which all of them share; one of several has its own.
            if isinstance(printed_by, set):
                printed_by.add(host)
            else:
                known[message] = alone[host] if printed_by is None else {*printed_by, host}
        return None

    def feed(self, line: Line, raw: bytes) -> Taken:
        """Read a line of NCCL with care; `raw` is the same with its prefixes, to know the next of its kind by."""
        found = messages.parsed(line.text)
        if found is None:
            return Taken.DAMAGED
        if found.level == "INFO" and not self._log.read(line.number, raw, found.host, found.message):
            return Taken.DAMAGED
        self._heard = True
        if found.level == "WARN":
            self._log.warn(line.number, line.text)
        head, mark, _ = raw.partition(_INFO)
        if mark and found.host:
            self._shared.learn(head, found.host)
        return Taken.YES

    def log(self) -> NcclLog | None:
        """Return what was read, None when nothing was."""
        return self._log.log() if self._heard else None
