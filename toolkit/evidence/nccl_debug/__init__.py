"""Logs of NCCL_DEBUG, of NCCL 2.4 to 2.28 (its sources, src/transport and src/init.cc).

What the ranks of one program print is collected; most lines of a big log repeat an earlier one, and cost little.
"""

from collections.abc import Iterator, Sequence
from itertools import repeat
from operator import length_hint

from toolkit.evidence.model import NcclLog
from toolkit.evidence.nccl_debug import messages
from toolkit.evidence.nccl_debug.channels import TooMany
from toolkit.evidence.nccl_debug.line_cache import REMEMBERED, LineCache
from toolkit.evidence.nccl_debug.messages import End, Kind, is_nccl
from toolkit.evidence.nccl_debug.program_log import ProgramLog
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line

__all__ = ["Collector", "LineCache", "is_nccl"]

_INFO = b" NCCL INFO "
_NO_HOST: frozenset[str] = frozenset()
_NO_END = End(0, Kind("", receives=False, device=None, gpudirect=False))
_NEVER_AGAIN = frozenset({b"comm", b"ncclCommInitRank", *(call.encode() for call in messages.CALLS)})
"""First words of messages that hold an address or a count, and so are never repeated."""


class Collector:
    """What the ranks of one program printed."""

    def __init__(self, shared: LineCache) -> None:
        self._shared = shared
        self._log = ProgramLog(shared)
        self._printed_by: dict[bytes, frozenset[str] | set[str]] = {}
        self._has_messages = False

    def skim(self, lines: Sequence[bytes], left: Iterator[bytes], last: int) -> bytes | None:
        """Go on to the first line that has to be read with care, and return it; None: there is none.

        `left` are those of `lines` that are left, and `last` is the number of the last. Those passed over are whole,
        and NCCL's.
        """
        shared, printed_by_message = self._shared, self._printed_by
        if len(printed_by_message) >= REMEMBERED:
            printed_by_message.clear()
        host_of, printed = shared.hosts.get, printed_by_message.get
        for head, _, message in map(bytes.partition, left, repeat(_INFO)):
            host = host_of(head)
            if host in printed(message, _NO_HOST):
                continue
            line, number = lines[len(lines) - length_hint(left) - 1], last - length_hint(left)
            host = host or shared.host_of(head)
            if host is None or not self._read(number, line, host, message):
                return line
        return None

    def _read(self, number: int, line: bytes, host: str, message: bytes) -> bool:
        """Read a message, and remember it; False: its line has to be read with care."""
        shared, printed_by_message, log = self._shared, self._printed_by, self._log
        printed_by = printed_by_message.get(message, _NO_HOST)
        if host in printed_by:
            return True
        channel, kind = shared.ends.get(message, _NO_END)
        if kind in log.proven:
            try:
                if not log.channels.add(channel, kind, host):
                    # It is stored when it is repeated: a message that is printed once costs less.
                    return True
            except TooMany:
                return False
        else:
            text = message.decode("utf-8", "replace").rstrip()
            # What has to be cleaned first is not printable, and of two lines in one neither is read.
            if " NCCL " in text or not text.isprintable() or not log.read(number, line, host, text):
                return False
            self._has_messages = True
            if message.partition(b" ")[0] in _NEVER_AGAIN:
                return True
        # A message of one host has that host's set, which all of them share; one of several has its own.
        if isinstance(printed_by, set):
            printed_by.add(host)
        else:
            printed_by_message[message] = {*printed_by, host} if printed_by else shared.alone[host]
        return True

    def feed(self, line: Line, raw: bytes) -> Taken:
        """Read a line of NCCL with care; `raw` is the same with its prefixes, to know the next of its kind by."""
        message = messages.parsed(line.text)
        if message is None:
            return Taken.DAMAGED
        if message.level == "INFO" and not self._log.read(line.number, raw, message.host, message.message):
            return Taken.DAMAGED
        self._has_messages = True
        if message.level == "WARN":
            self._log.warn(line.number, line.text)
        head, mark, _ = raw.partition(_INFO)
        if mark and message.host:
            self._shared.learn(head, message.host)
        return Taken.YES

    def log(self) -> NcclLog | None:
        """Return what was read, None when nothing was."""
        return self._log.log() if self._has_messages else None
