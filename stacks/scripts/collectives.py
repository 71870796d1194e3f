"""Times torch.distributed's collectives over NCCL, and prints the tables of nccl-tests.

    torchrun --nproc-per-node 2 collectives.py [-b 8] [-e 1G] [-f 2] [--only all_reduce,alltoall]

Columns, sizes and bus bandwidth are those of nccl-tests (doc/PERFORMANCE.md). What differs: a table has one half,
all_reduce in place and the others out of place, as torch.distributed has them. Up to `--graph-below` bytes operations
are replayed from a CUDA graph, since a call from Python takes longer than the operation; time is the median of several
loops.
"""

import argparse
import os
import sys
from collections.abc import Callable
from statistics import median
from typing import NamedTuple

import torch
import torch.distributed as dist

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
_WORD = 4
"""Bytes of an element."""
_ALIGNED_WORDS = 4
_UNITS = {"": 1, "K": KIB, "M": MIB, "G": GIB}
_LOOPS = 9
"""Of each size; their median counts."""
_LOOP_SECONDS = 0.004
"""How long a loop should take, at least."""
_MOST_ITERATIONS = 200
_LEAST_ITERATIONS = 4

Operation = Callable[[], object]


class Collective(NamedTuple):
    """One operation, by the name that nccl-tests gives its program."""

    redop: str
    by_rank: bool
    """Whether every rank has an equal part of the message: `count` is of one part, and `size` of all together."""
    in_place: bool
    bus_factor: Callable[[int], float]

    def parts(self, ranks: int) -> int:
        """Return how many parts a message has."""
        return ranks if self.by_rank else 1


def _without_own(ranks: int) -> float:
    return (ranks - 1) / ranks


COLLECTIVES = {
    "all_reduce": Collective("sum", by_rank=False, in_place=True, bus_factor=lambda ranks: 2 * (ranks - 1) / ranks),
    "all_gather": Collective("none", by_rank=True, in_place=False, bus_factor=_without_own),
    "reduce_scatter": Collective("sum", by_rank=True, in_place=False, bus_factor=_without_own),
    "alltoall": Collective("none", by_rank=True, in_place=False, bus_factor=_without_own),
}


def sizes(least: int, most: int, factor: int, parts: int) -> list[int]:
    """Return the message sizes in bytes, in ascending order: words that `parts` ranks divide, at least one for each.

    As nccl-tests does, the part of a rank is rounded down to 16 bytes, on which NCCL's fast protocols depend. Sizes
    that are equal after rounding are measured once.
    """
    rounded = []
    while least <= most:
        words = max(least // _WORD // parts, 1)
        if parts > 1 and words > _ALIGNED_WORDS:
            words -= words % _ALIGNED_WORDS
        rounded.append(words * parts * _WORD)
        least *= factor
    return sorted(set(rounded))


class Buffers:
    """The two buffers of a rank, of the largest size in bytes, filled with data that is not constant."""

    def __init__(self, largest: int, ranks: int, rank: int, device: str = "cuda") -> None:
        words = largest // _WORD
        self.rank, self.ranks, self.device = rank, ranks, device
        self.source = torch.empty(words, dtype=torch.float32, device=device)
        self.target = torch.empty(words, dtype=torch.float32, device=device)

    def fill(self, words: int) -> None:
        """Give the first words of both buffers the values that `wrong` expects."""
        for buffer in (self.source, self.target):
            torch.arange(words, dtype=torch.float32, device=self.device, out=buffer[:words])
            buffer[:words].remainder_(251).add_(self.rank)

    def operation(self, name: str, size: int) -> Operation:
        """Return a call of the collective on `size` bytes, one of `sizes`."""
        words = size // _WORD
        own = words // self.ranks
        source, target = self.source[:words], self.target[:words]
        match name:
            case "all_reduce":
                return lambda: dist.all_reduce(source)
            case "all_gather":
                return lambda: dist.all_gather_into_tensor(target, source[:own])
            case "reduce_scatter":
                return lambda: dist.reduce_scatter_tensor(target[:own], source)
            case _:
                return lambda: dist.all_to_all_single(target, source)

    def wrong(self, name: str, size: int) -> int:
        """Run the collective once on known data, and return how many elements of the result are wrong."""
        words = size // _WORD
        own, ranks = words // self.ranks, self.ranks
        self.fill(words)
        self.operation(name, size)()
        index = torch.arange(words, dtype=torch.float32, device=self.device).remainder_(251)
        ranks_sum = ranks * (ranks - 1) // 2
        match name:
            case "all_reduce":
                result, expected = self.source[:words], index * ranks + ranks_sum
            case "reduce_scatter":
                result = self.target[:own]
                expected = index[self.rank * own : (self.rank + 1) * own] * ranks + ranks_sum
            case "all_gather":
                result = self.target[:words]
                expected = torch.cat([index[:own] + rank for rank in range(ranks)])
            case _:
                result = self.target[:words]
                part = index[self.rank * own : (self.rank + 1) * own]
                expected = torch.cat([part + rank for rank in range(ranks)])
        count = torch.count_nonzero(result != expected).to(torch.int64)
        dist.all_reduce(count)
        return int(count)


def microseconds(buffers: Buffers, name: str, size: int, graph_below: int) -> float:
    """Return the time of one operation: the slowest rank's median of several loops."""
    buffers.fill(size // _WORD)
    operation = buffers.operation(name, size)
    for _ in range(3):
        operation()
    once = _timed(operation, _LEAST_ITERATIONS) / 1e6
    iterations = _agreed(min(_MOST_ITERATIONS, max(_LEAST_ITERATIONS, int(_LOOP_SECONDS / max(once, 1e-6)))))
    loop: Operation = operation
    per_call = 1
    if size < graph_below:
        per_call = 50
        loop, iterations = _graph(operation, per_call), max(1, iterations // per_call)
    loop()
    times = []
    for _ in range(_LOOPS):
        buffers.fill(size // _WORD)  # A sum in place doubles its data; so it does not reach infinity.
        dist.barrier()
        times.append(_timed(loop, iterations) / per_call)
    slowest = torch.tensor(median(times), dtype=torch.float64, device="cuda")
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
    return float(slowest)


def _timed(call: Operation, iterations: int) -> float:
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    begin.record()
    for _ in range(iterations):
        call()
    end.record()
    torch.cuda.synchronize()
    return float(begin.elapsed_time(end)) * 1000 / iterations


def _agreed(iterations: int) -> int:
    """Return the iterations that all ranks run: those of the first."""
    of_first = torch.tensor(iterations, device="cuda")
    dist.broadcast(of_first, 0)
    return int(of_first)


def _graph(operation: Operation, times: int) -> Operation:
    graph = torch.cuda.CUDAGraph()
    # The watchdog of torch.distributed asks for events in a thread of its own, which a global mode does not allow.
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        for _ in range(times):
            operation()
    replay: Operation = graph.replay
    return replay


def table(buffers: Buffers, name: str, options: argparse.Namespace) -> None:
    """Measure one collective, and print its table on the first rank."""
    collective, rank, ranks = COLLECTIVES[name], buffers.rank, buffers.ranks
    say = _print_line if rank == 0 else lambda _text: None
    say(f"# Collective test starting: {name}_perf")
    say(
        f"# nThread 1 nGpus 1 minBytes {options.least} maxBytes {options.most} step: {options.factor}(factor) "
        f"warmup iters: 3 iters: {_LEAST_ITERATIONS} agg iters: 1 validation: 1 graph: 0"
    )
    say("#\n# Using devices")
    for line in _devices():
        say(line)
    place = "in-place" if collective.in_place else "out-of-place"
    say(f"#\n# {'':10}  {'':12}  {'':8}  {'':6}  {'':6}           {place}")
    columns = ("type", "redop", "root", "time", "algbw", "busbw", "#wrong")
    say(f"# {'size':>10}  {'count':>12}  " + "  ".join(f"{column:>8}" for column in columns))
    say(f"# {'(B)':>10}  {'(elements)':>12}  {'':>26}  {'(us)':>8}  {'(GB/s)':>8}  {'(GB/s)':>8}")
    speeds, failed = [], 0
    for size in _sizes(name, options, ranks):
        wrong = buffers.wrong(name, size)
        time = round(microseconds(buffers, name, size, options.graph_below), 2)
        algbw = size / 1000 / time
        busbw = algbw * collective.bus_factor(ranks)
        count = size // _WORD // collective.parts(ranks)
        figures = "  ".join(f"{figure:8.2f}" for figure in (time, algbw, busbw))
        say(f"{size:12}  {count:12}  {'float':>8}  {collective.redop:>8}  {-1:8}  {figures}  {wrong:8}")
        speeds.append(round(busbw, 2))
        failed += wrong > 0
    say(f"# Out of bounds values : {failed} {'FAILED' if failed else 'OK'}")
    say(f"# Avg bus bandwidth    : {sum(speeds) / len(speeds):g} ")
    say(f"#\n# Collective test concluded: {name}_perf\n#")


def _sizes(name: str, options: argparse.Namespace, ranks: int) -> list[int]:
    return sizes(options.least, options.most, options.factor, COLLECTIVES[name].parts(ranks))


def _devices() -> list[str]:
    index = torch.cuda.current_device()
    gpu = torch.cuda.get_device_properties(index)
    bus = f"{gpu.pci_domain_id:04x}:{gpu.pci_bus_id:02x}:{gpu.pci_device_id:02x}"
    rank = dist.get_rank()
    mine = f"#  Rank {rank:2} Group  0 Pid {os.getpid():6} on {os.uname().nodename:>10} "
    mine += f"device {index:2} [{bus}] {gpu.name}"
    lines: list[str | None] = [None] * dist.get_world_size()
    dist.all_gather_object(lines, mine)
    return [line or "" for line in lines]


def _print_line(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _bytes(text: str) -> int:
    unit = text[-1:].upper() if text[-1:].isalpha() else ""
    return int(text.removesuffix(text[-1:]) if unit else text) * _UNITS[unit]


def main() -> int:
    """Print a table of each collective."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-b", dest="least", type=_bytes, default=8, help="least size, bytes")
    parser.add_argument("-e", dest="most", type=_bytes, default=GIB, help="largest size, bytes")
    parser.add_argument("-f", dest="factor", type=int, default=2, help="factor between sizes")
    parser.add_argument("--only", default=",".join(COLLECTIVES), help="collectives, by commas")
    parser.add_argument(
        "--graph-below", type=_bytes, default=32 * MIB, help="sizes that are replayed from a CUDA graph"
    )
    options = parser.parse_args()
    torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    dist.init_process_group("nccl", device_id=torch.device("cuda", torch.cuda.current_device()))
    rank = dist.get_rank()
    if rank == 0:
        version = ".".join(map(str, torch.cuda.nccl.version()))
        used = f"PyTorch {torch.__version__}, NCCL {version}"
        _print_line(f"# torch-collectives: tables of nccl-tests by torch.distributed ({used})")
    ranks, names = dist.get_world_size(), options.only.split(",")
    largest = max(_sizes(name, options, ranks)[-1] for name in names)
    buffers = Buffers(largest, ranks, rank)
    for name in names:
        table(buffers, name, options)
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
