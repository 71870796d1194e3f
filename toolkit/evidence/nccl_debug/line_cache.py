"""What is remembered of a file's lines, so that the next of their kind costs little."""

import re

from toolkit.evidence.nccl_debug import messages
from toolkit.evidence.nccl_debug.messages import End
from toolkit.evidence.prefixes import is_prefix
from toolkit.evidence.text import TIMED, is_rewritten

REMEMBERED = 100_000
"""Entries of each memory: some 20 MB. One that is full is emptied, and what it held is read again."""

_CLOCK = re.compile(rb"\d\d:\d\d:\d\d")


def _own(head: bytes) -> int:
    """Return where the last two words of a line's head start, which are NCCL's own: process and device."""
    return head.rfind(b" ", 0, max(head.rfind(b" "), 0)) + 1


class LineCache:
    """What holds for a whole file, whichever programs ran: hosts by the heads of lines, and channels by messages."""

    def __init__(self) -> None:
        self.hosts: dict[bytes, str] = {}
        self.alone: dict[str, frozenset[str]] = {}
        self.ends: dict[bytes, End] = {}

    def learn(self, head: bytes, host: str) -> None:
        """Remember whose lines begin so, whatever time stands before that."""
        if b'"' in head or is_rewritten(head):
            return  # of a JSON object or a frame, whose end is not the message's
        at = _own(head)
        if at and messages.HEAD.search(head, at) is not None and is_prefix(head[:at]):
            self._learn(head[at:], host)
            if _CLOCK.search(head, 0, at) is not None:
                return
        self._learn(TIMED.sub(b"", head, 1), host)

    def _learn(self, head: bytes, host: str) -> None:
        if len(self.hosts) >= REMEMBERED:
            self.hosts.clear()
            self.alone.clear()
        self.hosts[head] = host
        if host not in self.alone:
            self.alone[host] = frozenset((host,))

    def host_of(self, head: bytes) -> str | None:
        """Return the host whose lines start so, when that is known at once: no prefix, or one that is a time."""
        if head[4:5] == b"-" and (timed := TIMED.match(head)) is not None:
            return self.hosts.get(head[timed.end() :])
        if (found := messages.HEAD.fullmatch(head)) is None:
            own = _own(head)
            known = self.hosts.get(head[own:])
            return known if known is not None and is_prefix(head[:own]) else None
        host = found[1].decode()
        self._learn(head, host)
        return host

    def end(self, message: bytes) -> End | None:
        """Return an end of a channel, None for another message."""
        found = self.ends.get(message) or messages.end(message)
        if found is not None:
            if len(self.ends) >= REMEMBERED:
                self.ends.clear()
            self.ends[message] = found
        return found
