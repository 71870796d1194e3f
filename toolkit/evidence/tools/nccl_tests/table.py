"""Rows of the tables, by the columns that their headings name."""

import re
from decimal import Decimal
from functools import lru_cache
from typing import Literal, NamedTuple, cast

from toolkit.evidence.parser import number
from toolkit.evidence.text import Line
from toolkit.evidence.tools.nccl_tests.checks import Measured, Precision
from toolkit.evidence.tools.nccl_tests.model import Figures, Row, Spread

HEADING = re.compile(
    r"#\s+size\s+count\s+type(?P<redop>\s+redop)?(?P<root>\s+root)?"
    r"(?P<halves>(?:\s+(?:cpu)?time\s+algbw\s+busbw\s+(?:error|#wrong)(?:\s+i_min\s+i_max\s+i_p99\s+i_cv%)?){1,2})"
    r"(?P<stamp>\s+timestamp)?$"
)
_FIGURE = r"\d{1,15}(?:[.,]\d{1,15})?(?:e[+-]\d\d)?"
_ERROR = r"\d(?:[.,]\d{1,15})?e[+-]\d{2,3}|-?nan|inf|N/A"
_WRONG = r"-?\d{1,18}|-?\d(?:[.,]\d{1,15})?e\+\d\d|N/A"


class Shape(NamedTuple):
    """Columns of a table; `timed`: whether the time printed is that of the bandwidth, and not that of the CPU."""

    redop: bool
    root: bool
    halves: int
    checked: Literal["error", "#wrong"]
    spread: bool
    stamped: bool
    timed: bool

    @classmethod
    def of(cls, heading: re.Match[str]) -> "Shape":
        """Return the columns that a heading names."""
        halves = heading["halves"].split()
        return cls(
            redop=heading["redop"] is not None,
            root=heading["root"] is not None,
            halves=halves.count("busbw"),
            checked="error" if "error" in halves else "#wrong",
            spread="i_min" in halves,
            stamped=heading["stamp"] is not None,
            timed="cputime" not in halves,
        )


@lru_cache(maxsize=64)
def _pattern(shape: Shape) -> re.Pattern[str]:
    half = rf"\s+({_FIGURE})\s+({_FIGURE})\s+({_FIGURE})\s+({_ERROR if shape.checked == 'error' else _WRONG})"
    if shape.spread:
        half += rf"\s+({_FIGURE})" * 4
    return re.compile(
        r"\s*(\d{1,18})\s+(\d{1,18})\s+([a-z]\w{0,30})"
        + (r"(?:\s+([a-z]+))?" if shape.redop else "()")
        + (r"\s+(-?\d{1,9})" if shape.root else "()")
        + half * shape.halves
        + (r"\s+\d{4}-\d\d-\d\d \d\d:\d\d:\d\d" if shape.stamped else "")
        + "$"
    )


def read(line: Line, shape: Shape) -> Measured | None:
    """Return the row of a line, None when it is not a whole row of this table."""
    match = _pattern(shape).match(line.text)
    if match is None:
        return None
    size, count, kind, redop, root, *figures = cast("tuple[str, ...]", match.groups())
    width = len(figures) // shape.halves
    halves = [figures[index * width : (index + 1) * width] for index in range(shape.halves)]
    read = [_figures(half, shape) for half in halves]
    row = Row(
        line=line.number,
        bytes=int(size),
        count=int(count),
        type=kind,
        redop=redop if redop and redop != "none" else None,
        root=int(root) if root else None,
        out_of_place=read[0],
        in_place=read[1] if shape.halves > 1 else None,
    )
    return Measured(row, tuple(Precision(*(_half_digit(text) for text in half[:3])) for half in halves))


def _figures(half: list[str], shape: Shape) -> Figures:
    time, algbw, busbw, checked, *spread = half
    wrong = None if checked == "N/A" else number(checked)
    return Figures(
        time_us=number(time),
        algbw_gb_s=number(algbw),
        busbw_gb_s=number(busbw),
        wrong=None if wrong is None or shape.checked == "error" else int(wrong),
        error=wrong if shape.checked == "error" else None,
        spread=None
        if not spread
        else Spread(
            min_us=number(spread[0]),
            max_us=number(spread[1]),
            p99_us=number(spread[2]),
            variation_percent=number(spread[3]),
        ),
    )


def _half_digit(text: str) -> float:
    exponent = Decimal(text.replace(",", ".", 1)).as_tuple().exponent
    return 0.5 * 10.0 ** int(exponent)
