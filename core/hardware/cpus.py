"""Lists of CPUs as the kernel, the kubelet and lscpu write them: 0-15,128-143."""

from collections.abc import Iterable
from itertools import pairwise


def parse(text: str) -> frozenset[int]:
    """Return the CPU numbers of a list such as 0-15,128; raise ValueError for anything else."""
    cpus: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not (first.isdecimal() and (not dash or last.isdecimal())):
            raise ValueError(f"{text!r} is not a list of CPUs; write numbers and ranges, e.g. 0-15,128-143")
        numbers = range(int(first), int(last or first) + 1)
        if not numbers:
            raise ValueError(f"{text!r} has a range that ends before it starts: {part}")
        cpus.update(numbers)
    return frozenset(cpus)


def write(numbers: Iterable[int]) -> str:
    """Return the shortest list of these CPU numbers, in ascending order; an empty text for none."""
    ordered = sorted(set(numbers))
    if not ordered:
        return ""
    breaks = [index + 1 for index, (left, right) in enumerate(pairwise(ordered)) if right != left + 1]
    runs = [ordered[start:end] for start, end in pairwise([0, *breaks, len(ordered)])]
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)
