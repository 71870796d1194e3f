"""Horovod's synthetic benchmarks (pytorch_synthetic_benchmark.py and its TensorFlow sisters): rank 0 prints them."""

import re
from typing import ClassVar

from pydantic import Field

from evidence.model import Reading
from evidence.parser import Common, Parser, Taken, number
from evidence.text import Line
from hardware.model import Model

ITERATIONS_KEPT = 10_000

_N = r"[0-9]{1,12}[.,][0-9]"
"""All rates are printed with one decimal: another number has been cut."""
_MODEL = re.compile(r"Model: (\S+)")
_BATCH = re.compile(r"Batch size: ([0-9]{1,9})", re.ASCII)
_DEVICES = re.compile(r"Number of (GPU|CPU)s: ([0-9]{1,9})", re.ASCII)
_ITERATION = re.compile(rf"Iter #([0-9]{{1,9}}): ({_N}) img/sec per (?:GPU|CPU)", re.ASCII)
_EACH = re.compile(rf"Img/sec per (GPU|CPU): ({_N}) \+-({_N})", re.ASCII)
_TOTAL = re.compile(rf"Total img/sec on ([0-9]{{1,9}}) (?:GPU|CPU)\(s\): ({_N}) \+-({_N})", re.ASCII)
_QUIET = frozenset({"Running warmup...", "Running benchmark..."})


class Iteration(Model):
    """One measurement of rank 0, of ten batches unless it was asked otherwise."""

    line: int = Field(ge=1, description="number in the file")
    iteration: int = Field(description="from 0")
    images_per_s: float = Field(description="images/s of one device")


class HorovodSynthetic(Reading):
    """A run of the benchmark (B-4.2)."""

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


class HorovodSyntheticParser(Parser):
    """Reads one run, from `Model:` to the total."""

    tool: ClassVar[str] = "horovod-synthetic"
    starts: ClassVar[str] = r"Model: \S+$"
    hosts_nccl: ClassVar[bool] = True

    def __init__(self) -> None:
        self._model: str | None = None
        self._batch: int | None = None
        self._device: str | None = None
        self._ranks: int | None = None
        self._iterations: list[Iteration] = []
        self._each: tuple[float, float] | None = None
        self._total: tuple[int, int, float, float] | None = None

    def feed(self, line: Line) -> Taken:
        """Read a line of the header, an iteration or a result."""
        text = line.text
        if (found := _MODEL.fullmatch(text)) is not None:
            if self._model is not None:
                return Taken.AGAIN
            self._model = found[1]
        elif (found := _BATCH.fullmatch(text)) is not None:
            self._batch = int(found[1])
        elif (found := _DEVICES.fullmatch(text)) is not None:
            self._device, self._ranks = found[1], int(found[2])
        elif text not in _QUIET:
            return self._rate(line)
        return Taken.YES

    def _rate(self, line: Line) -> Taken:
        text = line.text
        if (found := _ITERATION.fullmatch(text)) is not None:
            if len(self._iterations) < ITERATIONS_KEPT:
                self._iterations.append(
                    Iteration(line=line.number, iteration=int(found[1]), images_per_s=number(found[2]))
                )
        elif (found := _EACH.fullmatch(text)) is not None:
            self._device, self._each = found[1], (number(found[2]), number(found[3]))
        elif (found := _TOTAL.fullmatch(text)) is not None:
            self._total = (line.number, int(found[1]), number(found[2]), number(found[3]))
        else:
            return Taken.DAMAGED if text.startswith(("Iter #", "Img/sec per ", "Total img/sec")) else Taken.NO
        return Taken.YES

    def reading(self, common: Common) -> HorovodSynthetic:
        """Return what rank 0 printed."""
        each, spread = self._each or (None, None)
        at, devices, total, total_spread = self._total or (None, None, None, None)
        deviation = None
        if each is not None and devices is not None and total:
            deviation = abs(total - devices * each) / total
        return HorovodSynthetic(
            tool=self.tool,
            complete=total is not None,
            incomplete=None if total is not None else "no `Total img/sec`",
            model=self._model,
            batch_size=self._batch,
            device=self._device,
            ranks=devices if devices is not None else self._ranks,
            iterations=tuple(self._iterations),
            images_per_s_per_device=each,
            spread_per_device=spread,
            total_images_per_s=total,
            total_spread=total_spread,
            total_line=at,
            total_deviation=deviation,
            **common,
        )
