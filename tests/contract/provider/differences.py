"""The differences that are wanted: a short list, each with its reason and the results that it covers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field

from tests.contract.provider.normal import leaves

FILE = Path(__file__).with_name("differences.yaml")
MOST = 10
_ABSENT = "(nothing)"


class Wanted(BaseModel):
    """One difference that is wanted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    reason: str = Field(min_length=20)
    cases: tuple[str, ...] = Field(min_length=1)
    paths: tuple[str, ...] = Field(min_length=1)

    def covers(self, case: str, path: str) -> bool:
        """Whether a result of a case is one of those."""
        return any(fnmatchcase(case, pattern) for pattern in self.cases) and any(
            fnmatchcase(path, pattern) for pattern in self.paths
        )


@dataclass(frozen=True)
class Difference:
    """One value that is not as recorded."""

    case: str
    path: str
    recorded: Any
    found: Any

    def __str__(self) -> str:
        return f"{self.case} {self.path}\n  recorded: {self.recorded!r}\n  found:    {self.found!r}"


def wanted(file: Path = FILE) -> tuple[Wanted, ...]:
    """Return the list."""
    return tuple(Wanted.model_validate(item) for item in yaml.safe_load(file.read_text()))


def compare(case: str, recorded: list[Any], found: list[Any]) -> list[Difference]:
    """Return what of a case's results is not as recorded."""
    before, after = dict(leaves(recorded)), dict(leaves(found))
    return [
        Difference(case, path, before.get(path, _ABSENT), after.get(path, _ABSENT))
        for path in sorted({*before, *after})
        if not _same(before.get(path, _ABSENT), after.get(path, _ABSENT))
    ]


def _same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and bool(left == right)


def unwanted(differences: Iterable[Difference], entries: Iterable[Wanted]) -> list[Difference]:
    """Return the differences that no entry covers."""
    known = list(entries)
    return [item for item in differences if not any(entry.covers(item.case, item.path) for entry in known)]


def idle(results: Mapping[str, list[Difference]], entries: Iterable[Wanted]) -> list[str]:
    """Return the names of entries that cover nothing."""
    every = [item for items in results.values() for item in items]
    return [entry.name for entry in entries if not any(entry.covers(item.case, item.path) for item in every)]
