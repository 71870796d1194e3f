"""The owners of lines by shape: what becomes of a line that differs from an earlier one in its digits alone.

A shape is decided when it comes the second time, and only where neither the digits of a line nor the lines before it
could change what becomes of it. Every other line is read with care.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import filterfalse
from typing import NamedTuple

from core.apis.names import SIMULATED
from toolkit.evidence.failures import has_hint
from toolkit.evidence.line_shapes import of_shapes, shape_of
from toolkit.evidence.parser import Parser
from toolkit.evidence.prefixes import Prefixes
from toolkit.evidence.text import clean, is_rewritten
from toolkit.evidence.tool_run import ToolRun

_REMEMBERED = 20_000
"""Shapes of each memory. One that is full is emptied, and what it held is decided again."""
_SECOND, _EVERY = 2, 32
"""When a shape is decided: the second time, and where that was not sure every so many times."""
_LONGEST = 1000
"""Bytes of a line whose shape is remembered: longer ones are rare, and cost little per byte."""


class OwnedShapes(NamedTuple):
    """The owner of lines, a run that counts them or None for no tool, and all shapes of that owner."""

    owner: ToolRun | None
    shapes: set[bytes]

    def skim(self, lines: Iterator[bytes]) -> bytes | None:
        """Go on to the first line that has none of these shapes, and return its shape; None: there is none."""
        return next(filterfalse(self.shapes.__contains__, map(shape_of, lines)), None)


class LineOwners:
    """The shapes of a file's lines whose owner is decided."""

    def __init__(self, parsers: Sequence[type[Parser]], prefixes: Prefixes) -> None:
        self._parsers = parsers
        self._prefixes = prefixes
        self._owned: dict[ToolRun | None, OwnedShapes] = {}
        self._shape_counts: dict[bytes, int] = {}

    def forget(self) -> None:
        """Forget what was decided: a run started or ended, or a prefix became known."""
        self._owned.clear()
        self._shape_counts.clear()

    def owned_shapes(self, line: bytes) -> OwnedShapes | None:
        """Return the owner of lines of this shape, with all of its shapes; None: undecided."""
        shape = shape_of(line)
        return next((shapes for shapes in self._owned.values() if shape in shapes.shapes), None)

    def decide(self, line: bytes, active: Sequence[ToolRun]) -> None:
        """Decide the owner of lines of this shape, if it is certain; `active` are the runs that may take some."""
        shape = shape_of(line)
        times = self._shape_counts[shape] = self._shape_counts.get(shape, 0) + 1
        if len(self._shape_counts) > _REMEMBERED:
            self._shape_counts.clear()
        if times % _EVERY != _SECOND or len(shape) > _LONGEST or is_rewritten(shape) or b"NCCL " in shape:
            return
        if shape.startswith(b"std"):
            return  # The runtime's stdout and stderr are removed with their time alone, which this line may have lost.
        text = clean(1, shape).text
        bare = self._prefixes.strip(text)
        text = text if bare is None else bare.text
        owner: ToolRun | None = None
        for run in reversed(active):
            assert run.parser is not None  # noqa: S101 - those without a parser take no lines
            if run.parser.counts(text):
                owner = run
                break
            if not run.parser.ignores(text):
                return
        if not text or (owner is None and (has_hint(text) or self._may_begin(text))):
            return
        shapes = self._owned.setdefault(owner, OwnedShapes(owner, set())).shapes
        if len(shapes) >= _REMEMBERED:
            shapes.clear()
        shapes.add(shape)

    def _may_begin(self, text: str) -> bool:
        firsts = _firsts(tuple(self._parsers))
        return any(firsts.match(rest) for rest in (text, *self._prefixes.rests(text)))


@cache
def _firsts(parsers: tuple[type[Parser], ...]) -> re.Pattern[str]:
    """Return what matches the shape of every line that a tool may begin with."""
    firsts = [of_shapes(parser.starts) for parser in parsers]
    firsts += [f"(?:{of_shapes(parser.leads)})$" for parser in parsers if parser.leads]
    return re.compile("|".join(f"(?:{first})" for first in (re.escape(SIMULATED), *firsts)))
