"""What simulated programs share: the form of their answers, options of command lines, repeatable random numbers."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal

from toolkit.simulator.performance.job import Launched

DIGITS = 9
"""Most of a number that is believed; a command line may contain anything."""


@dataclass(frozen=True)
class Steps:
    """What a training prints as time passes, after its first lines."""

    numbers: range
    """Steps that it reports."""
    seconds: float
    """Simulated seconds between two of these."""
    line: Callable[[int], str]
    """Prints a step."""
    every: int = 0
    """Steps between checkpoints; 0: it saves none."""
    newest: Path | None = None
    """File on this machine that stands for the last complete checkpoint, with its step; None: it does not last."""
    reports: bool = True
    """Whether this pod is the one that prints the steps and saves."""
    tag: str = ""
    """Before each line."""
    launcher: Literal["torchrun", "mpirun"] = "torchrun"
    """What started the ranks, and ends them when some are gone."""

    def saves(self, step: int) -> bool:
        """Return whether a checkpoint is saved after a step that is reported."""
        return self.every > 0 and step % self.every == 0


@dataclass(frozen=True)
class Printed:
    """Lines on either stream, in order; exit code; and, of a failure, the line that says why."""

    lines: tuple[str, ...] = ()
    exit_code: int = 0
    message: str = ""
    waits: bool = False
    """Whether it goes on until another pod of its namespace comes: it runs again whenever one starts or ends."""
    steps: Steps | None = None
    """What follows while all pods of the job run."""


Program = Callable[[Sequence[str], Launched], Printed]
"""Simulates a program: gets its arguments, the first of which is its own path, and the job."""


def options(words: Sequence[str]) -> Mapping[str, str]:
    """Return name -> value, without the dashes; an option without a value has an empty one."""
    value_of: dict[str, str] = {}
    name = ""
    for word in words:
        if word.startswith("-"):
            name, _, found_value = word.lstrip("-").partition("=")
            value_of[name] = found_value
            name = "" if "=" in word else name
        elif name:
            value_of[name] = word
            name = ""
    return value_of


def whole(text: str, otherwise: int) -> int:
    """Return a positive number, `otherwise` for what is none."""
    return int(text) if text.isdecimal() and len(text) <= DIGITS and int(text) > 0 else otherwise


def number(values: Mapping[str, str], name: str, otherwise: int) -> int:
    """Return the positive number that an option gives, `otherwise` where it gives none."""
    return whole(values.get(name, ""), otherwise)


def on(values: Mapping[str, str], name: str) -> bool:
    """Return whether a switch is on: --name, --name=true."""
    return name in values and values[name].lower() in ("", "1", "true", "yes", "t")


def seeded(*of: object) -> Random:
    """Return a source of random numbers that depends on `of` alone, in any process."""
    return Random("/".join(map(str, of)))  # noqa: S311 - figures of a simulated machine, no secret


def seeded_bits(bits: int, *of: object) -> int:
    """Return a number of so many bits that depends on `of` alone."""
    return int(hashlib.sha256("/".join(map(str, of)).encode()).hexdigest(), 16) % (1 << bits)
