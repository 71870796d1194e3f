"""What comes before the engine's own work."""

from pathlib import Path

import pytest

from toolkit.cli.shared import session
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.simulated.backend import record as choose_folder
from toolkit.cli.shared.stack import read


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


@pytest.mark.usefixtures("sim_home")
def test_attributes_that_a_kill_cut_are_removed_before_the_engine_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Empty attributes beside a state or its tags are removed, those of other stacks stay."""
    folder = tmp_path / "states" / ".pulumi" / "stacks" / "hpc"
    folder.mkdir(parents=True)
    for name in ("dev.json", "dev.pulumi-tags", "other.json"):
        (folder / name).write_text("{}")
        (folder / f"{name}.attrs").touch()
    monkeypatch.setattr("toolkit.engine.tools.find", lambda *_, **__: tmp_path / "pulumi")
    stack = read("dev", "lab")
    choose_folder(stack.home, folder.parents[2].as_uri())
    session.engine(stack)
    assert sorted(path.name for path in folder.glob("*.attrs")) == ["other.json.attrs"]


@pytest.mark.usefixtures("sim_home")
def test_the_engine_has_its_temporary_files_with_the_cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The official provider leaves a kubeconfig in the temporary folder: on a simulated cluster it goes with that."""
    monkeypatch.setattr("toolkit.engine.tools.find", lambda *_, **__: tmp_path / "pulumi")
    stack = read("dev", "lab")
    stack.home.mkdir(parents=True)
    folder = session.engine(stack).environment["TMPDIR"]
    assert Path(folder) == stack.home / "tmp"
    assert Path(folder).is_dir()
