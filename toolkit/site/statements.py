"""Statements of a configuration, each under what it configures, and how a running one differs from the planned one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Statements:
    """The statements of a configuration."""

    by_key: Mapping[str, str]
    """What is configured -> the statement, for all that the files of a site configure, too."""
    others: tuple[str, ...] = ()
    """Statements that no setting governs."""


@dataclass(frozen=True)
class Difference:
    """A difference between the planned configuration and the running one."""

    kind: Literal["missing", "extra", "different"]
    key: str
    expected: str
    """Empty for what is extra."""
    running: str
    """Empty for what is missing."""


def differences(planned: Mapping[str, str], running: Mapping[str, str]) -> Iterator[Difference]:
    """Yield what is missing and what is different, in the order of the planned ones, then what is extra."""
    for key, line in planned.items():
        if key not in running:
            yield Difference("missing", key, line, "")
        elif running[key] != line:
            yield Difference("different", key, line, running[key])
    yield from (Difference("extra", key, "", line) for key, line in running.items() if key not in planned)
