"""What was recorded: a file of results for each file of cases, with the versions that they come from."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from pydantic import BaseModel, ConfigDict

from tests.contract.provider.cases import Case
from tests.contract.provider.normal import leaves
from tests.contract.records import json_text

FOLDER = Path(__file__).with_name("recorded")
_SAME = "$same"
_WORTH = 6
"""Leaves from which on a repeated value is noted as such."""
Results = dict[str, list[Any]]


class Source(BaseModel):
    """Of which provider, against which API server."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    provider: str
    kubernetes: str


def save(source: Source, cases: Iterable[Case], results: Mapping[str, list[Any]], folder: Path = FOLDER) -> None:
    """Write the results, and nothing else, to the folder."""
    folder.mkdir(exist_ok=True)
    files: dict[str, Results] = {}
    for case in cases:
        files.setdefault(case.file, {})[case.name] = _folded(results[case.name])
    for path in folder.glob("*.json"):
        path.unlink()
    (folder / "source.json").write_text(source.model_dump_json(indent=1) + "\n")
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json_text(content) + "\n")


def load(folder: Path = FOLDER) -> tuple[Source, Results]:
    """Return what was recorded."""
    source = Source.model_validate_json((folder / "source.json").read_text())
    results: Results = {}
    for path in sorted(folder.glob("*.json")):
        if path.stem != "source":
            content = json.loads(path.read_text())
            results.update({name: _unfolded(steps) for name, steps in content.items()})
    return source, results


def _folded(steps: list[Any]) -> list[Any]:
    """Return the steps with objects that stood before them in the same case named by their place."""
    seen: dict[str, str] = {}

    def fold(value: Any, path: str) -> Any:
        if isinstance(value, dict) and value:
            text = json.dumps(value, sort_keys=True)
            if text in seen:
                return {_SAME: seen[text]}
            if sum(1 for _ in leaves(value)) >= _WORTH:
                seen[text] = path
            return {key: fold(item, f"{path}/{quote(key, safe='')}") for key, item in sorted(value.items())}
        if isinstance(value, list):
            return [fold(item, f"{path}/{index}") for index, item in enumerate(value)]
        return value

    return [fold(step, str(index)) for index, step in enumerate(steps)]


def _unfolded(steps: list[Any]) -> list[Any]:
    whole: list[Any] = []

    def unfold(value: Any) -> Any:
        if isinstance(value, dict):
            if set(value) == {_SAME}:
                return unfold(_at(steps, value[_SAME]))
            return {key: unfold(item) for key, item in value.items()}
        return [unfold(item) for item in value] if isinstance(value, list) else value

    for step in steps:
        whole.append(unfold(step))
    return whole


def _at(steps: list[Any], path: str) -> Any:
    found: Any = steps
    for part in path.split("/"):
        found = found[int(part)] if isinstance(found, list) else found[unquote(part)]
    return found
