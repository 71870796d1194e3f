"""Processes that benchmarks measure by processor time, because the machine may be busy."""

import resource
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Run:
    """One process with its children: processor time in seconds, and its output."""

    cpu: float
    output: bytes


def run(*command: str | Path) -> Run:
    """Run a command to its end; one that fails raises CalledProcessError."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Run(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout)
