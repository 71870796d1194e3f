"""Headings and rows of perftest's tables."""

import re
from functools import lru_cache
from typing import NamedTuple

from toolkit.evidence.parser import number
from toolkit.evidence.text import Line
from toolkit.evidence.tools.perftest.model import Bandwidth, Latency, Unit, as_mb
from toolkit.evidence.tools.perftest.run import Measured, Run

_CPU = r"(?P<cpu>\s+CPU_Util\[%{1,2}\])?$"
_bandwidth = re.compile(
    r"\s*#bytes\s+(?P<sl>#sl\s+)?#iterations\s+BW peak\[(?P<unit>MB|MiB|Gb)/sec\]\s+BW average\[(?:MB|MiB|Gb)/sec\]"
    r"(?P<rate>\s+MsgRate\[Mpps\])?"
    r"(?P<ports>\s+BW Port1\[\w+/sec\]\s+MsgRate Port1\[Mpps\]\s+BW Port2\[\w+/sec\]\s+MsgRate Port2\[Mpps\])?" + _CPU
)
_latency = re.compile(
    r"\s*#bytes\s+#iterations\s+t_min\[usec\]\s+t_max\[usec\]\s+t_typical\[usec\]"
    r"(?P<more>\s+t_avg\[usec\]\s+t_stdev\[usec\]\s+99% percentile\[usec\]\s+99\.9% percentile\[usec\])?" + _CPU
)
_duration = re.compile(r"\s*#bytes\s+#iterations\s+t_avg\[usec\](?P<more>\s+tps average)?" + _CPU)
_row_like = re.compile(r"\s*[\d.,]+(?:\s+[\w.,+-]+)+$")
_FIGURE = r"(\d{1,15}[.,]\d{1,9})"


def is_like_a_row(text: str) -> bool:
    """Return whether a line behind a heading is meant to be a row."""
    return _row_like.match(text) is not None


class Shape(NamedTuple):
    """Kind and columns of a table."""

    kind: str
    """bandwidth, latency or duration."""
    figures: int
    unit: Unit | None
    level: bool
    rate: bool
    cpu: bool

    @classmethod
    def of(cls, text: str) -> "Shape | None":
        """Return the table that a line is the heading of, None when it is none."""
        if (match := _bandwidth.match(text)) is not None:
            rate, ports = match["rate"] is not None, match["ports"] is not None
            unit: Unit = "Gb/s" if match["unit"] == "Gb" else "MB/s"
            figures = 2 + rate + 4 * ports
            return cls("bandwidth", figures, unit, match["sl"] is not None, rate, match["cpu"] is not None)
        if (match := _latency.match(text)) is not None:
            return cls("latency", 7 if match["more"] else 3, None, False, False, match["cpu"] is not None)
        if (match := _duration.match(text)) is not None:
            return cls("duration", 2 if match["more"] else 1, None, False, False, match["cpu"] is not None)
        return None

    def read(self, line: Line, run: Run) -> bool:
        """Add the row of a line to a run; False when it is not a whole row of this table."""
        match = _pattern(self).match(line.text)
        if match is None:
            return False
        sizes = [int(text) for text in match.groups()[: 3 if self.level else 2]]
        texts = match.groups()[len(sizes) :]
        figures = [number(text) for text in texts]
        cpu = figures.pop() if self.cpu else None
        if self.kind == "bandwidth":
            run.measured.append(self._bandwidth(line, sizes, figures, texts, cpu))
        else:
            run.latencies.append(self._latency(line, sizes, figures, cpu))
        return True

    def _bandwidth(
        self, line: Line, sizes: list[int], figures: list[float], texts: tuple[str, ...], cpu: float | None
    ) -> Measured:
        unit = self.unit or "MB/s"
        peak, average = figures[:2]
        row = Bandwidth(
            line=line.number,
            bytes=sizes[0],
            iterations=sizes[-1],
            peak_mb_s=as_mb(peak, unit) or None,
            average_mb_s=as_mb(average, unit),
            message_rate_mpps=figures[2] if self.rate else None,
            unit=unit,
            peak_printed=peak,
            average_printed=average,
            service_level=sizes[1] if self.level else None,
            ports_average_mb_s=tuple(as_mb(figure, unit) for figure in figures[3::2]),
            cpu_percent=cpu,
        )
        return Measured(row, half_digit(texts[1]), half_digit(texts[2]) if self.rate else 0.0)

    def _latency(self, line: Line, sizes: list[int], figures: list[float], cpu: float | None) -> Latency:
        names = ["average_us", "per_second"]
        if self.kind == "latency":
            names = ["min_us", "max_us", "typical_us", "average_us", "stdev_us", "p99_us", "p99_9_us"]
        fields = dict(zip(names, figures, strict=False))
        return Latency.model_validate(
            {"line": line.number, "bytes": sizes[0], "iterations": sizes[1], "cpu_percent": cpu, **fields}
        )


def half_digit(text: str) -> float:
    """Return half of the last digit of a printed figure: how far the true one may be off."""
    return 0.5 * 10.0 ** -len(re.split(r"[.,]", text)[1])


@lru_cache(maxsize=32)
def _pattern(shape: Shape) -> re.Pattern[str]:
    level = r"\s+(\d{1,3})" if shape.level else ""
    return re.compile(rf"\s*(\d{{1,18}}){level}\s+(\d{{1,18}})" + rf"\s+{_FIGURE}" * (shape.figures + shape.cpu) + "$")
