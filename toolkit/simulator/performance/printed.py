"""What a program leaves: the form in which every simulated program answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from toolkit.simulator.performance.job import Launched


@dataclass(frozen=True)
class Printed:
    """Lines on either stream, in order; exit code; and, of a failure, the line that says why."""

    lines: tuple[str, ...] = ()
    exit_code: int = 0
    message: str = ""
    waits: bool = False
    """Whether it goes on until another pod of its namespace comes: it runs again whenever one starts or ends."""


Program = Callable[[Sequence[str], Launched], Printed]
"""Simulates a program: gets its arguments, the first of which is its own path, and the job."""
