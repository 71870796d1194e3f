"""How lines of a training's log show its events: the program's own patterns, and what torchrun prints."""

import re
from typing import Any

from core.goodput import GoodputLines
from core.metric import compiled
from toolkit.evidence.goodput.events import NONE, Kind
from toolkit.evidence.line_shapes import treats_digits_alike

TORCHRUN_STARTS = "Starting worker group"
TORCHRUN_STOPS = re.compile(
    r"Sending process \d+ closing signal |will restart worker group|failed \(exitcode: -?[1-9]\d*\) local_rank: "
)
"""After these a process has ended for certain."""
TRIES_AGAIN = "willRetry=1"
"""In errors of Gloo that are none."""
_numeral = re.compile(r"\d{1,15}(?:,\d{3}){0,4}", re.ASCII)


class Patterns:
    """The patterns of a program."""

    def __init__(self, goodput: GoodputLines) -> None:
        by_kind = {
            Kind.STEP: goodput.step,
            Kind.RESUMED: goodput.resumed,
            Kind.SAVED: goodput.saved,
            Kind.SAVING: goodput.saving,
            Kind.START: goodput.started,
        }
        texts = [pattern for pattern in by_kind.values() if pattern is not None]
        self._kinds: list[tuple[Kind, Any]] = [
            (kind, compiled(pattern)) for kind, pattern in by_kind.items() if pattern is not None
        ]
        self._own: Any = compiled("|".join(f"(?:{text})" for text in texts))
        self._any: Any = compiled("|".join(f"(?:{text})" for text in [*texts, TORCHRUN_STARTS]))
        self.same_shape = all(map(treats_digits_alike, texts))
        """Whether lines of one shape surely have the same matches."""
        self.anchored = any(mark in text for text in texts for mark in ("^", "$", r"\A", r"\z"))
        """Whether a block of lines cannot be searched: an anchor is of the line without its prefixes."""

    def may_match(self, block: bytes) -> bool:
        """Return whether a line of a block may show an event."""
        return self._any.search(block.decode("utf-8", "replace")) is not None

    def find(self, text: str) -> tuple[Kind, Any] | None:
        """Return what a line shows, and the match; a line shows one event."""
        if self._own.search(text) is None:
            return None
        matches = ((kind, pattern.search(text)) for kind, pattern in self._kinds)
        return next((found for found in matches if found[1] is not None), None)


def number_of(match: Any) -> int | None:
    """Return the number of steps of a match, NONE where the pattern has no group; None: it is no number."""
    if not match.re.groups:
        return NONE
    text = match[1]
    return int(text.replace(",", "")) if text and _numeral.fullmatch(text) else None
