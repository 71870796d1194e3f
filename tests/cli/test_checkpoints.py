"""A state that is read, changed and written back."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from cli import checkpoints
from cli.backends.backend import Backend, of_folder
from cli.engine import Engine
from cli.errors import Problem


@dataclass
class _Engine:
    """An engine whose only commands are export and import, upon a file."""

    file: Path
    stack: str = "dev"
    imported: list[Any] = field(default_factory=list)

    def call(self, *words: str) -> str:
        if words[:2] == ("stack", "export"):
            return json.dumps({"version": 3, "deployment": json.loads(self.file.read_text())["checkpoint"]["latest"]})
        document = json.loads(Path(words[-1]).read_text())
        self.imported.append(document)
        self.set(*document["deployment"]["resources"])
        return ""

    def set(self, *resources: str) -> None:
        self.file.write_text(json.dumps({"checkpoint": {"latest": {"resources": list(resources)}}}))


@pytest.fixture
def engine(tmp_path: Path) -> _Engine:
    """Give an engine with a state of one resource."""
    file = tmp_path / ".pulumi/stacks/hpc/dev.json"
    file.parent.mkdir(parents=True)
    made = _Engine(file)
    made.set("a")
    return made


@pytest.fixture(params=["folder", "cloud"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Backend | None:
    """Give the backend, which nobody but the engine can read in the second case."""
    return of_folder(tmp_path) if request.param == "folder" else None


def _add(document: dict[str, Any]) -> dict[str, Any]:
    document["deployment"]["resources"].append("b")
    return document


def test_what_was_read_is_written(engine: _Engine, backend: Backend | None) -> None:
    """A guard that refuses everything, or an edit that never comes into the state."""
    assert checkpoints.edit(cast("Engine", engine), backend, _add)
    assert checkpoints.export(cast("Engine", engine))["deployment"]["resources"] == ["a", "b"]
    assert not checkpoints.edit(cast("Engine", engine), backend, lambda document: document)
    assert not checkpoints.edit(cast("Engine", engine), backend, lambda document: None)  # noqa: ARG005
    assert len(engine.imported) == 1


def test_a_newer_state_is_not_overwritten(engine: _Engine, backend: Backend | None) -> None:
    """What an update of somebody else made meanwhile is in no state any more: made twice, or never deleted."""

    def slowly(document: dict[str, Any]) -> dict[str, Any]:
        engine.set("a", "of another update")
        return _add(document)

    with pytest.raises(Problem, match="was changed meanwhile"):
        checkpoints.edit(cast("Engine", engine), backend, slowly)
    assert checkpoints.export(cast("Engine", engine))["deployment"]["resources"] == ["a", "of another update"]


def test_a_state_that_came_meanwhile_is_not_overwritten(engine: _Engine, backend: Backend | None) -> None:
    """A change between our look and the engine's, which belongs to neither."""
    before = checkpoints.read(cast("Engine", engine), backend)
    engine.set("c")
    with pytest.raises(Problem, match="Run this again"):
        checkpoints.write(cast("Engine", engine), backend, before, _add(before.document))
    assert engine.imported == []
