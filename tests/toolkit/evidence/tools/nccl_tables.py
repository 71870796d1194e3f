"""Writes tables as nccl-tests prints them, for tests.

The forms are those of src/common.cu and src/util.cu of NVIDIA/nccl-tests: `print_header` of 2019 (2.0 to 2.12, with
`error`), common.cu of 2022 (2.13: `#wrong` and `root` in every table) and util.cu of 2026 (2.18).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from toolkit.evidence.tools.nccl_tests import PRIMITIVES

HOSTS = ("worker-0", "worker-1")


class Run(NamedTuple):
    """What a table is written of."""

    test: str = "all_reduce"
    form: str = "2.18"
    ranks: int = 16
    low: int = 1024
    high: int = 1 << 20
    checked: bool = True
    wrong: int = 0
    spread: bool = False
    cpu_time: bool = False
    stamped: bool = False
    minimum: str = ""
    variant: int = 0


def number(value: float, width: int) -> str:
    """Return a figure as `getFloatStr` of 2.17 writes it."""
    power = 0
    digit = 1
    while value >= digit:
        digit *= 10
        power += 1
    digits = 2 if power < width - 2 else 1 if power < width - 1 else 0
    return f"{value:{width}.{digits}f}"


def old_time(value: float) -> str:
    """Return a time as versions up to 2.16 write it."""
    return f"{value:7.{0 if value >= 10000 else 1 if value >= 100 else 2}f}"


def sizes(run: Run) -> list[tuple[int, int]]:
    """Return size and count of each row."""
    found = []
    size = run.low
    while size <= run.high:
        elements = size // 4
        if PRIMITIVES[run.test].by_rank:
            own = elements // run.ranks
            found.append((own * run.ranks * 4, own))
        else:
            found.append((elements * 4, elements))
        size *= 2
    return found


def half(run: Run, size: int, speed_up: float) -> tuple[float, float, float]:
    """Return time, algbw and busbw, unrounded: a latency, and a bandwidth."""
    primitive = PRIMITIVES[run.test]
    time = (38.123 + size / 27_531.7) / speed_up
    variant = primitive.variants[run.variant]
    moved = size * (run.ranks - 1) / run.ranks if variant.sent_only else size
    algbw = moved / 1e3 / time
    return time, algbw, algbw * variant.factor(run.ranks)


def _half_text(run: Run, figures: tuple[float, float, float]) -> str:
    time, algbw, busbw = figures
    if run.form == "2.0":
        return f"  {old_time(time)}  {algbw:6.2f}  {busbw:6.2f}  {'5e-07' if run.checked else '  N/A'}"
    wrong = f"{float(run.wrong):6g}" if run.checked else "   N/A"
    if run.form == "2.13":
        return f"  {old_time(time)}  {algbw:6.2f}  {busbw:6.2f} {wrong}"
    text = f"  {number(time, 7)}  {number(algbw, 6)}  {number(busbw, 6)}  {wrong}"
    if run.spread:
        text += "".join(f"  {number(one, 7)}" for one in (time * 0.9, time * 1.3, time * 1.2, 4.2))
    return text


def table(run: Run) -> str:
    """Return what the program prints."""
    primitive = PRIMITIVES[run.test]
    old = run.form == "2.0"
    out: list[str] = []
    if run.form == "2.18":
        out += ["# nccl-tests version 2.18.3 nccl-headers=22809 nccl-library=22903"]
        out += [f"# Collective test starting: {run.test}_perf"]
    settings = f"# nThread 1 nGpus 1 minBytes {run.low} maxBytes {run.high} step: 2(factor) warmup iters: 5 iters: 20"
    settings += "" if old else " agg iters: 1"
    settings += f" validation: {int(run.checked)}"
    settings += "" if old else " graph: 0"
    out += [settings + (" unalign: 0" if run.form == "2.18" else ""), "#", "# Using devices"]
    for rank in range(run.ranks):
        group, bus = ("  Rank", f"0x{6 + rank % 8:02x}") if old else (" Rank", f"0000:{6 + rank % 8:02x}:00")
        middle = "" if old else " Group  0"
        host = HOSTS[rank // ((run.ranks + 1) // 2)] if run.ranks > 1 else HOSTS[0]
        where = f"Pid {30 + rank:6d} on {host:>10s} device {rank % 8:2d}"
        out += [f"# {group} {rank:2d}{middle} {where} [{bus}] Tesla V100-SXM2-16GB"]
    columns = ["size", "count", "type"]
    columns += ["redop"] if not old or primitive.reduces else []
    columns += ["root"] if not old or primitive.rooted else []
    one = ["cputime" if run.cpu_time else "time", "algbw", "busbw", "error" if old else "#wrong"]
    one += ["i_min", "i_max", "i_p99", "i_cv%"] if run.spread else []
    out += ["#", "#                                   out-of-place                       in-place          "]
    out += ["#       " + "    ".join([*columns, *one, *one, *(["timestamp"] if run.stamped else [])]) + "  "]
    out += ["#        (B)    (elements)     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)"]
    means = []
    for size, count in sizes(run):
        halves = [half(run, size, speed_up) for speed_up in (1.0, 1.04)]
        means += [one[2] for one in halves]
        text = f"{size:12d}  {count:12d}  {'float':>8s}"
        text += f"  {'sum' if primitive.reduces else 'none':>6s}" if "redop" in columns else ""
        text += f"  {0 if primitive.rooted else -1:6d}" if "root" in columns else ""
        text += "".join(_half_text(run, one) for one in halves)
        out += [text + ("  2026-11-21 20:01:02" if run.stamped else "")]
    bad = 2 * len(sizes(run)) if run.wrong else 0
    out += [f"# Out of bounds values : {bad} {'FAILED' if bad else 'OK'}"]
    out += [f"# Avg bus bandwidth    : {math.fsum(means) / len(means):g} {run.minimum}", "#"]
    out += [f"# Collective test concluded: {run.test}_perf", "#"] if run.form == "2.18" else []
    return "\n".join(out) + "\n"


def tokens(text: str, line: int) -> Sequence[str]:
    """Return the words of a line of a text, without prefixes."""
    return text.split("\n")[line - 1].split()
