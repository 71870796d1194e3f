"""Collects what the ranks of one program say; most lines of a big log say what was said before, and cost little."""

from collections.abc import Iterator
from operator import length_hint

from evidence.model import NcclLog
from evidence.nccl_debug import messages
from evidence.nccl_debug.channels import TooMany
from evidence.nccl_debug.facts import CALLS, Facts
from evidence.nccl_debug.messages import End, Kind
from evidence.nccl_debug.shared import REMEMBERED, Shared
from evidence.parser import Taken
from evidence.text import Line

_INFO = b" NCCL INFO "
_NO_END = End(0, Kind("", receives=False, device=None, gpudirect=False))
_NEVER_AGAIN = frozenset({b"comm", b"ncclCommInitRank", *(call.encode() for call in CALLS)})
"""First words of messages that hold an address or a count, so that the same comes never again."""


class Collector:
    """What the ranks of one program said."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._facts = Facts(shared)
        self._known: dict[bytes, frozenset[str] | set[str]] = {}
        self._heard = False

    def skim(self, lines: Iterator[bytes], last: int) -> bytes | None:
        """Go on to the first line that has to be read with care, and return it; None: there is none.

        `last` is the number of the last of the lines. Those passed over are whole, and NCCL's.
        """
        shared = self._shared
        hosts, ends, alone = shared.hosts, shared.ends, shared.alone
        known, facts = self._known, self._facts
        proven, add, read = facts.proven, facts.channels.add, facts.read
        if len(known) >= REMEMBERED:
            known.clear()
        for line in lines:
            head, _, message = line.partition(_INFO)
            host = hosts.get(head)
            if host is None and (host := shared.host_of(head)) is None:
                return line
            told = known.get(message)
            if told is not None and host in told:
                continue
            channel, kind = ends.get(message, _NO_END)
            if kind in proven:
                try:
                    if not add(channel, kind, host):
                        # It is remembered when it comes again: what is said once costs less so.
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
            if isinstance(told, set):
                told.add(host)
            else:
                known[message] = alone[host] if told is None else {*told, host}
        return None

    def feed(self, line: Line, raw: bytes) -> Taken:
        """Read a line of NCCL with care; `raw` is the same with its prefixes, to know the next of its kind by."""
        said = messages.said(line.text)
        if said is None:
            return Taken.DAMAGED
        if said.level == "INFO" and not self._facts.read(line.number, raw, said.host, said.message):
            return Taken.DAMAGED
        self._heard = True
        if said.level == "WARN":
            self._facts.warn(line.number, line.text)
        head, mark, _ = raw.partition(_INFO)
        if mark and said.host:
            self._shared.learn(head, said.host)
        return Taken.YES

    def log(self) -> NcclLog | None:
        """Return what was read, None when nothing was."""
        return self._facts.log() if self._heard else None
