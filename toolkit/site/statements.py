"""Statements of a configuration, each under what it configures, and how a running one differs from what is wanted."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Statements:
    """What a configuration says."""

    known: Mapping[str, str]
    """What is configured -> the statement, of all that the files of a site configure, too."""
    others: tuple[str, ...] = ()
    """Statements about what no setting speaks of."""


@dataclass(frozen=True)
class Difference:
    """One difference between what is wanted and what runs."""

    kind: Literal["missing", "extra", "different"]
    key: str
    wanted: str
    """Empty for what is extra."""
    running: str
    """Empty for what is missing."""


def differences(wanted: Mapping[str, str], running: Mapping[str, str]) -> Iterator[Difference]:
    """Yield what is missing and what is different, in the order of what is wanted, then what is extra."""
    for key, line in wanted.items():
        if key not in running:
            yield Difference("missing", key, line, "")
        elif running[key] != line:
            yield Difference("different", key, line, running[key])
    yield from (Difference("extra", key, "", line) for key, line in running.items() if key not in wanted)
