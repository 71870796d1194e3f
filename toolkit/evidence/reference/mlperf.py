"""The minutes of MLPerf Training v0.6 that a run is compared with."""

from core.hardware.measured import submission


def benchmark(name: str) -> str | None:
    """Return the benchmark that a program of docs/reference/programs.md is, or that a log names; None: no comparison.

    Programs and logs write its name with a hyphen, an underscore or neither.
    """
    benchmark_name = name.replace("-", "").replace("_", "")
    return benchmark_name if benchmark_name in submission().minutes else None


def published_minutes(name: str) -> float | None:
    """Return the minutes that the Supermicro reference compares a benchmark with; None: it is none of its four.

    `name` is a program of docs/reference/programs.md, or what a log calls it.
    """
    benchmark_name = benchmark(name)
    return submission().minutes[benchmark_name] if benchmark_name is not None else None
