"""What comes before the engine's own work."""

from pathlib import Path

import pytest

from cli import session
from cli.engine import Engine
from cli.places import ROOT
from cli.stack import read


def test_a_new_stack_leaves_no_line_in_the_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`stack init`, which writes a salt into Pulumi.<stack>.yaml of its folder, whatever file it is told to read."""
    seen: list[tuple[Path, list[str]]] = []

    def call(_: Engine, *arguments: str, folder: Path = ROOT) -> str:
        assert arguments == ("stack", "init", "prod")
        seen.append((folder, sorted(path.name for path in folder.iterdir())))
        return ""

    monkeypatch.setenv("HPC_SIM_HOME", str(tmp_path))
    monkeypatch.setattr(Engine, "call", call)
    stack = read("prod", "lab")
    stack.home.mkdir()
    session.prepare(stack, Engine(tmp_path / "pulumi", "prod", {}))
    ((folder, files),) = seen
    assert folder != ROOT
    assert files == ["Pulumi.yaml"]
    assert not folder.exists()
    assert stack.copy.is_file()
    assert stack.own_passphrase_file.is_file()
