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
        """Remember the host of lines with this head, whatever time precedes it."""
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
        """Return the host of lines with this head, when it is known at once: no prefix, or one that is a time."""
        if head[4:5] == b"-" and (timed := TIMED.match(head)) is not None:
            return self.hosts.get(head[timed.end() :])
        if (match := messages.HEAD.fullmatch(head)) is None:
            prefix = _own(head)
            prefixed_host = self.hosts.get(head[prefix:])
            return prefixed_host if prefixed_host is not None and is_prefix(head[:prefix]) else None
        host = match[1].decode()
        self._learn(head, host)
        return host

    def end(self, message: bytes) -> End | None:
        """Return an end of a channel, None for another message."""
        channel_end = self.ends.get(message) or messages.end(message)
        if channel_end is not None:
            if len(self.ends) >= REMEMBERED:
                self.ends.clear()
            self.ends[message] = channel_end
        return channel_end
