"""What comes before the engine's own work."""

from pathlib import Path

import pytest

from cli.shared import session
from cli.shared.engine import Engine
from cli.shared.paths import ROOT
from cli.shared.stack import read


@pytest.mark.usefixtures("sim_home")
def test_a_new_stack_leaves_no_line_in_the_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A new stack changes no settings file: `stack init` writes its salt in a folder of its own."""
    seen: list[tuple[Path, list[str]]] = []

    def call(_: Engine, *arguments: str, folder: Path = ROOT) -> str:
        assert arguments == ("stack", "init", "prod")
        seen.append((folder, sorted(path.name for path in folder.iterdir())))
        return ""

    monkeypatch.setattr(Engine, "call", call)
    stack = read("prod", "lab")
    stack.home.mkdir(parents=True)
    session.prepare(stack, Engine(tmp_path / "pulumi", "prod", {}))
    ((folder, files),) = seen
    assert folder != ROOT
    assert files == ["Pulumi.yaml"]
    assert not folder.exists()
    assert stack.copy.is_file()
    assert stack.own_passphrase_file.is_file()
