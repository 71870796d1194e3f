"""A state that is read, changed and written back."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from toolkit.cli.shared.backends.backend import Backend, of_folder
from toolkit.cli.shared.checkpoints import access
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT

CLI = ROOT / "toolkit" / "cli"


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
    """Give the backend; in the second case only the engine can read it."""
    return of_folder(tmp_path) if request.param == "folder" else None


def _add(document: dict[str, Any]) -> dict[str, Any]:
    document["deployment"]["resources"].append("b")
    return document


def test_what_was_read_is_written_after_a_backup(engine: _Engine, backend: Backend | None, tmp_path: Path) -> None:
    """An edit is written after a backup; one without a change writes neither."""
    backup = tmp_path / "backup.json"
    assert not access.edit(cast("Engine", engine), backend, backup, lambda document: document)
    assert not access.edit(cast("Engine", engine), backend, backup, lambda document: None)  # noqa: ARG005
    assert not backup.exists()
    assert access.edit(cast("Engine", engine), backend, backup, _add)
    assert access.export(cast("Engine", engine))["deployment"]["resources"] == ["a", "b"]
    assert len(engine.imported) == 1
    assert access.read_backup(backup).deployment["resources"] == ["a"]


def test_nothing_is_written_without_a_backup(engine: _Engine, backend: Backend | None, tmp_path: Path) -> None:
    """An edit is refused where its backup exists already."""
    backup = tmp_path / "backup.json"
    backup.write_text("of before")
    with pytest.raises(Problem, match="exists already"):
        access.edit(cast("Engine", engine), backend, backup, _add)
    assert engine.imported == []


def test_a_damaged_state_is_backed_up_as_it_is(engine: _Engine, tmp_path: Path) -> None:
    """The backup of a damaged state has its bytes as they are."""
    damaged, backend = b'{"version"', of_folder(tmp_path)
    engine.file.write_bytes(damaged)
    before = access.Checkpoint({"version": 3, "deployment": {"resources": []}}, damaged, damaged=True)
    access.write(cast("Engine", engine), backend, before, _add(before.document), tmp_path / "backup")
    assert (tmp_path / "backup").read_bytes() == damaged
    assert len(engine.imported) == 1


def test_a_newer_state_is_not_overwritten(engine: _Engine, backend: Backend | None, tmp_path: Path) -> None:
    """An edit is refused when another update has changed the state meanwhile."""

    def slowly(document: dict[str, Any]) -> dict[str, Any]:
        engine.set("a", "of another update")
        return _add(document)

    with pytest.raises(Problem, match="was changed meanwhile"):
        access.edit(cast("Engine", engine), backend, tmp_path / "backup", slowly)
    assert access.export(cast("Engine", engine))["deployment"]["resources"] == ["a", "of another update"]


def test_a_state_that_came_meanwhile_is_not_overwritten(
    engine: _Engine, backend: Backend | None, tmp_path: Path
) -> None:
    """A write is refused when the state has changed since it was read."""
    before = access.read(cast("Engine", engine), backend)
    engine.set("c")
    with pytest.raises(Problem, match="Run this again"):
        access.write(cast("Engine", engine), backend, before, _add(before.document), tmp_path / "backup")
    assert engine.imported == []


def test_a_damaged_state_is_refused_with_what_restores_it(
    engine: _Engine, backend: Backend | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine's own message is `failed to load checkpoint: EOF`; it stays where the state cannot be read here."""
    engine.file.write_text("")

    def refuse(*_: str) -> str:
        raise Problem("error: failed to load checkpoint: EOF")

    monkeypatch.setattr(engine, "call", refuse)
    expected = "failed to load checkpoint" if backend is None else "state of stack dev is damaged.*\n.*state restore"
    with pytest.raises(Problem, match=expected):
        access.edit(cast("Engine", engine), backend, tmp_path / "backup.json", _add)


def test_states_are_written_in_one_place() -> None:
    """States are written by these modules alone, which back up and compare first."""
    words = re.compile(r'"stack", "import"|initErrors"\] ?=|"initErrors":|store\.write\((?!PROBE)')
    writers = {str(file.relative_to(CLI)) for file in CLI.rglob("*.py") if words.search(file.read_text())}
    allowed = {f"shared/checkpoints/{name}.py" for name in ("access", "interrupted", "restored")}
    assert writers == allowed
