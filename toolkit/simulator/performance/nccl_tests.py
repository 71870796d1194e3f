"""nccl-tests: all_reduce_perf and its sisters, as built in 2020 and today.

Forms: the Redpaper's three tables; for other primitives src/*.cu of the public NVIDIA/nccl-tests, and for today's its
v2.13, which is what our images are built with (`builds`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePosixPath

from core.apis.nccl import bus_factor
from toolkit.simulator.performance import model, nccl_faults, nccl_log
from toolkit.simulator.performance.communicator import Communicator, communicator
from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.ports import gpu_bus
from toolkit.simulator.performance.printed import Printed, Program

TESTS = (
    *("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "alltoall", "gather", "scatter"),
    "sendrecv",
)
REDUCES = frozenset({"all_reduce", "reduce", "reduce_scatter"})
ROOTED = frozenset({"broadcast", "reduce", "gather", "scatter"})
BY_RANK = frozenset({"all_gather", "reduce_scatter", "alltoall", "gather", "scatter"})
"""Tests whose count is of one rank, and whose size is of all."""
WORD = {"float": 4, "double": 8, "half": 2, "int8": 1, "uint8": 1, "int32": 4, "int64": 8, "bfloat16": 2}
_OPTIONS: Mapping[str, str] = dict(
    option.split("=")
    for option in (
        *("--nthreads=-t", "--ngpus=-g", "--minbytes=-b", "--maxbytes=-e", "--stepbytes=-i", "--stepfactor=-f"),
        *("--iters=-n", "--agg_iters=-m", "--warmup_iters=-w", "--parallel_init=-p", "--check=-c", "--op=-o"),
        *("--datatype=-d", "--root=-r", "--blocking=-z", "--cudagraph=-G"),
    )
)
_DEFAULTS = {"-t": "1", "-g": "1", "-b": "32M", "-e": "32M", "-i": "1M", "-f": "1", "-n": "20", "-w": "5", "-c": "1"}
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30}
_SIZE = re.compile(r"([0-9]{1,15})([KMG]?)", re.IGNORECASE)
CUDA_ERROR = 2
MOST_ROWS = 1000


@dataclass(frozen=True)
class Request:
    """What a command line asks for."""

    test: str
    options: Mapping[str, str]

    def number(self, option: str) -> int:
        """Return an option that is a number, or a size with K, M or G; its default when it is neither."""
        for text in (self.options.get(option, ""), _DEFAULTS.get(option, "0")):
            if match := _SIZE.fullmatch(text):
                return int(match[1]) << _UNITS[match[2].upper()]
        return 0

    @property
    def type(self) -> str:
        """Type of an element."""
        type_ = self.options.get("-d", "float")
        return type_ if type_ in WORD else "float"

    def sizes(self) -> Iterator[int]:
        """Yield the sizes that are measured, bytes."""
        size, factor, step = self.number("-b"), self.number("-f"), self.number("-i")
        for _ in range(MOST_ROWS):
            if size > self.number("-e"):
                return
            yield size
            larger = size * factor if factor > 1 else size + step
            if larger <= size:
                return
            size = larger


def requested(words: Sequence[str]) -> Request:
    """Read a command line."""
    options: dict[str, str] = {}
    rest = [part for word in words[1:] for part in (word.split("=", 1) if word.startswith("--") else (word,))]
    for at, word in enumerate(rest[:-1]):
        if word.startswith("-"):
            options[_OPTIONS.get(word, word)] = rest[at + 1]
    return Request(PurePosixPath(words[0]).name.removesuffix("_perf"), options)


def perf(words: Sequence[str], job: Launched) -> Printed:
    """Simulate one of the tests."""
    request = requested(words)
    gpus = max(request.number("-g") * request.number("-t"), 1)
    group = communicator(job, gpus)
    if group is None or not group.ranks:
        return _no_gpu(job, gpus)
    header = _header(request, group)
    if failed := nccl_faults.failure(group):
        where = f"{group.hosts[0].name}: Test NCCL failure common.cu:{_LINE[group.version.of_2020]}"
        error = nccl_faults.SYSTEM_ERROR[group.version.of_2020]
        return replace(failed, lines=(*header, *failed.lines, f"{where} '{error}'"))
    lines = [*header, *nccl_log.initialisation(group)]
    table, total, number = ["#", *_heads(request, group)], 0.0, 0
    if nccl_log.shown(group) and group.version.of_2020:
        mode = "Group/CGMD" if gpus > 1 else "Parallel"
        table.append(nccl_log.log_line(group, group.ranks[0], f"Launch mode {mode}", thread=False))
    for size in request.sizes():
        row, speeds = _row(request, group, size)
        table.append(row)
        total, number = total + sum(speeds), number + len(speeds)
    mean = total / number if number else 0.0
    footer = ["# Out of bounds values : 0 OK", f"# Avg bus bandwidth    : {mean:g} ", "#"]
    return Printed((*lines, *table, *footer))


_LINE = {True: 775, False: 958}
"""Of common.cu, where communicators are made."""
PROGRAMS: Mapping[str, Program] = {f"{test}_perf": partial(perf) for test in TESTS}


def _no_gpu(job: Launched, gpus: int) -> Printed:
    """Return how a process ends that finds fewer GPUs than it is to drive."""
    short_worker = next((worker for worker in job.processes if len(worker.gpus) < gpus), job.me)
    none = not short_worker.gpus or not short_worker.machine.has_driver
    text = "no CUDA-capable device is detected" if none else "invalid device ordinal"
    line = f"{short_worker.name}: Test CUDA failure common.cu:732 '{text}'"
    return Printed((line,), CUDA_ERROR, line)


def _header(request: Request, group: Communicator) -> Iterator[str]:
    of_2020 = group.version.of_2020
    factor = request.number("-f")
    step = f"{factor}(factor)" if factor > 1 else f"{request.number('-i')}(bytes)"
    more = "" if of_2020 else " agg iters: 1"
    graph = " " if of_2020 else " graph: 0"
    yield (
        f"# nThread {request.number('-t')} nGpus {request.number('-g')} minBytes {request.number('-b')}"
        f" maxBytes {request.number('-e')} step: {step} warmup iters: {request.number('-w')}"
        f" iters: {request.number('-n')}{more} validation: {request.number('-c')}{graph}"
    )
    yield "#"
    yield "# Using devices"
    for rank in group.ranks:
        profile = rank.worker.machine.profile
        bus = gpu_bus(profile, rank.gpu) if profile else 0
        name = profile.gpu_model if profile else ""
        process = nccl_log.pid(group, rank)
        if of_2020:
            who = f"#   Rank {rank.number:2d} Pid {process:6d} on {rank.worker.name:>10s}"
        else:
            who = f"#  Rank {rank.number:2d} Group  0 Pid {process:6d} on {rank.worker.name:>10s}"
        yield f"{who} device {rank.device:2d} [0x{bus:02x}] {name}"


_PLACES = "out-of-place                       in-place          "


def _heads(request: Request, group: Communicator) -> tuple[str, str, str]:
    if not group.version.of_2020:
        return (
            f"#{'':51s}           {_PLACES}",
            _columns("size", "count", "type", ("redop", "root"), "time", "algbw", "busbw", "#wrong", wide=True),
            _columns("(B)", "(elements)", "", ("", ""), "(us)", "(GB/s)", "(GB/s)", "", wide=True),
        )
    names = (*(("redop",) if request.test in REDUCES else ()), *(("root",) if request.test in ROOTED else ()))
    blank = "".join(f"  {'':6s}" for _ in names)
    return (
        f"# {'':10s}  {'':12s}  {'':6s}{blank}            {_PLACES}",
        _columns("size", "count", "type", names, "time", "algbw", "busbw", "error", wide=False),
        _columns("(B)", "(elements)", "", ("",) * len(names), "(us)", "(GB/s)", "(GB/s)", "", wide=False),
    )


def _columns(size: str, count: str, kind: str, names: Sequence[str], *figures: str, wide: bool) -> str:
    *speeds, wrong = figures
    half = "".join(f"  {text:>{width}s}" for text, width in zip(speeds, (7, 6, 6), strict=True))
    half += f" {wrong:>6s}" if wide else f"  {wrong:>5s}"
    more = "".join(f"  {name:>6s}" for name in names)
    return f"# {size:>10s}  {count:>12s}  {kind:>{8 if wide else 6}s}{more}{half}{half}"


def _row(request: Request, group: Communicator, size: int) -> tuple[str, list[float]]:
    """Return a row as it is printed, and its bus bandwidths."""
    ranks, word, of_2020 = len(group.ranks), WORD[request.type], group.version.of_2020
    if request.test in BY_RANK:
        count = size // ranks // word
        count -= 0 if of_2020 else count % max(16 // word, 1)
        moved = count * word * ranks
    else:
        count = size // word
        moved = count * word
    halves, speeds = "", []
    for half in ("out-of-place", "in-place"):
        microseconds = model.collective_us(group, request.test, moved, half)
        algbw = moved / microseconds / 1e3
        busbw = algbw * bus_factor(request.test, ranks)
        speeds.append(busbw)
        halves += (
            f"  {_number(microseconds, 7)}  {_number(algbw, 6)}  {_number(busbw, 6)}  {_wrong(request, group, count)}"
        )
    names = f"  {'sum':>6s}" if request.test in REDUCES else ("" if of_2020 else f"  {'none':>6s}")
    if request.test in ROOTED:
        names += f"  {request.number('-r'):6d}"
    elif not of_2020:
        names += f"  {-1:6d}"
    return f"{moved:12d}  {count:12d}  {request.type:>{6 if of_2020 else 8}s}{names}{halves}", speeds


def _wrong(request: Request, group: Communicator, count: int) -> str:
    """Return what the check found: of 2020 the largest difference from the exact sum, today how many are wrong."""
    if not request.number("-c"):
        return "  N/A"
    if not group.version.of_2020:
        return "    0"
    if request.test not in REDUCES:
        return "0e+00"
    # As in the Redpaper: rounding of sums of floats, larger where more elements are compared.
    return "1e-07" if count < 256 else "2e-07" if count < 65536 else "5e-07"  # noqa: PLR2004


def _number(value: float, width: int) -> str:
    """Return a figure as nccl-tests fits it into its column: fewer decimals for larger ones."""
    digits = len(str(int(value))) if value >= 1 else 0
    decimals = 2 if digits < width - 2 else 1 if digits < width - 1 else 0
    return f"{value:{width}.{decimals}f}"
