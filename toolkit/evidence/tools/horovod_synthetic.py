"""Horovod's synthetic benchmarks (pytorch_synthetic_benchmark.py and its TensorFlow sisters): rank 0 prints them."""

import re

from pydantic import Field

from core.wording import plural
from toolkit.evidence.criterion import Criterion
from toolkit.evidence.model import Reading, Record
from toolkit.evidence.parser import Common, Parser, Taken, ending, number
from toolkit.evidence.text import Line

ITERATIONS_KEPT = 10_000

_N = r"[0-9]{1,12}[.,][0-9]"
"""All rates are printed with one decimal: another number has been cut."""
_MODEL = re.compile(r"Model: (?P<model>\S+)")
_HEADER = (
    _MODEL,
    re.compile(r"Batch size: (?P<batch_size>[0-9]{1,9})", re.ASCII),
    re.compile(r"Number of (?P<device>GPU|CPU)s: (?P<ranks>[0-9]{1,9})", re.ASCII),
)
_ITERATION = re.compile(rf"Iter #([0-9]{{1,9}}): ({_N}) img/sec per (?:GPU|CPU)", re.ASCII)
_EACH = re.compile(rf"Img/sec per (?P<device>GPU|CPU): ({_N}) \+-({_N})", re.ASCII)
_TOTAL = re.compile(rf"Total img/sec on (?P<ranks>[0-9]{{1,9}}) (?:GPU|CPU)\(s\): ({_N}) \+-({_N})", re.ASCII)
_RATES = ("Iter #", "Img/sec per ", "Total img/sec")
_BEGINNINGS = ("Model: ", "Batch size: ", "Number of ", *_RATES)
_QUIET = frozenset({"Running warmup...", "Running benchmark..."})


class Iteration(Record):
    """One measurement of rank 0, of ten batches by default."""

    iteration: int = Field(description="from 0")
    images_per_s: float = Field(description="images/s of one device")


class HorovodSynthetic(Reading):
    """A run of the benchmark."""

    model: str | None = Field(default=None, description="network, e.g. resnet50")
    batch_size: int | None = Field(default=None, description="images per device and step")
    device: str | None = Field(default=None, description="GPU or CPU: Horovod without CUDA runs on CPUs")
    ranks: int | None = Field(default=None, description="devices of the job, one process each")
    iterations: tuple[Iteration, ...] = Field(default=(), description=f"at most {ITERATIONS_KEPT}")
    images_per_s_per_device: float | None = Field(default=None, description="mean of rank 0")
    spread_per_device: float | None = Field(default=None, description="1.96 standard deviations of the iterations")
    total_images_per_s: float | None = Field(default=None, description="rank 0's mean times the devices, as printed")
    total_spread: float | None = Field(default=None, description="images/s, 1.96 standard deviations")
    total_line: int | None = Field(default=None, description="line of the total")
    total_deviation: float | None = Field(
        default=None, description="|total - devices x mean| / total: rounding, unless the log was edited"
    )

    def _figures(self) -> str:
        total = self.total_images_per_s
        return f"{total:,.2f} images/s" if total is not None else plural(len(self.iterations), "iteration")


class HorovodSyntheticParser(Parser):
    """Reads one run, from `Model:` to the total."""

    tool = "horovod-synthetic"
    kind = HorovodSynthetic
    starts = r"Model: \S+$"
    hosts_nccl = True

    def __init__(self) -> None:
        self._header: dict[str, str] = {}
        self._iterations: list[Iteration] = []
        self._per_device: tuple[float, float] | None = None
        self._total: tuple[int, float, float] | None = None

    def feed(self, line: Line) -> Taken:
        """Read a line of the header, an iteration or a result."""
        for pattern in _HEADER:
            if (match := pattern.fullmatch(line.text)) is not None:
                if pattern is _MODEL and "model" in self._header:
                    return Taken.AGAIN
                self._header |= match.groupdict()
                return Taken.YES
        return Taken.YES if line.text in _QUIET else self._rate(line)

    def ignores(self, text: str) -> bool:
        """Return whether a line begins like none of the program's."""
        return text not in _QUIET and not text.startswith(_BEGINNINGS)

    def _rate(self, line: Line) -> Taken:
        text = line.text
        if (match := _ITERATION.fullmatch(text)) is not None:
            if len(self._iterations) < ITERATIONS_KEPT:
                self._iterations.append(
                    Iteration(line=line.number, iteration=int(match[1]), images_per_s=number(match[2]))
                )
            return Taken.YES
        if (match := _EACH.fullmatch(text)) is not None:
            self._per_device = number(match[2]), number(match[3])
        elif (match := _TOTAL.fullmatch(text)) is not None:
            self._total = line.number, number(match[2]), number(match[3])
        else:
            return Taken.DAMAGED if text.startswith(_RATES) else Taken.NO
        self._header |= match.groupdict()
        return Taken.YES

    def reading(self, common: Common) -> Reading:
        """Return what rank 0 printed."""
        per_device, spread = self._per_device or (None, None)
        total_line, total, total_spread = self._total or (None, None, None)
        deviation = (
            abs(total - int(self._header["ranks"]) * per_device) / total if per_device is not None and total else None
        )
        return HorovodSynthetic.model_validate(
            {
                **common,
                **self._header,
                **ending(None if total is not None else "no `Total img/sec`"),
                "iterations": tuple(self._iterations),
                "images_per_s_per_device": per_device,
                "spread_per_device": spread,
                "total_images_per_s": total,
                "total_spread": total_spread,
                "total_line": total_line,
                "total_deviation": deviation,
            }
        )


CRITERIA: tuple[Criterion, ...] = ()
"""None: toolkit/evidence/criteria/training.py judges all trainings."""
