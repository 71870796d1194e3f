"""An update that repeats the last one needs no preview."""

import os
from pathlib import Path

import pytest

from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.stack import Stack
from toolkit.cli.up import repetition
from toolkit.cli.up.repetition import Repetition

OMITTED = ("--skip-preview",)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a repository with a program, and a folder for simulated clusters."""
    root = tmp_path / "repository"
    (root / "out").mkdir(parents=True)
    (root / "__main__.py").write_text("first")
    monkeypatch.setattr(repetition, "ROOT", root)
    monkeypatch.setenv("HPC_SIM_HOME", str(tmp_path / "sim"))
    return root


def _update(stack: Stack | None = None, *, succeeds: bool = True, gpus: int = 8, **variables: str) -> tuple[str, ...]:
    engine = Engine(Path(os.__file__), "dev", variables)
    update = Repetition(stack or stacks.read("dev"), engine, {"gpu-limit": {"maximum": gpus}})
    omitted = update.begin()
    if succeeds:
        update.succeed()
    return omitted


def test_repeated_update_omits_its_preview(root: Path) -> None:
    """The first update has a preview, the next has none; what commands write is no part of it."""
    assert _update() == ()
    (root / "out" / "dev.md").write_text("new")
    assert _update() == OMITTED
    assert _update() == OMITTED


def test_update_of_something_else_has_a_preview(root: Path) -> None:
    """A file of the program, a parameter of a policy or a variable that has changed asks for a preview."""
    assert _update() == ()
    (root / "__main__.py").write_text("second version")
    assert _update() == ()
    assert _update(gpus=4) == ()
    assert _update(gpus=4, HPC_TOOLS="/elsewhere") == ()
    assert _update(gpus=4, HPC_TOOLS="/elsewhere") == OMITTED


@pytest.mark.usefixtures("root")
def test_update_after_a_failed_one_has_a_preview() -> None:
    """What was begun and did not succeed is previewed again."""
    assert _update() == ()
    assert _update(succeeds=False) == OMITTED
    assert _update() == ()


@pytest.mark.usefixtures("root")
def test_real_cluster_always_has_a_preview() -> None:
    """Nothing is recorded of a stack on a real cluster."""
    settings = stacks.read("dev").settings
    cluster = settings.cluster.model_copy(update={"simulated": False})
    real = Stack("dev", settings.model_copy(update={"cluster": cluster}))
    assert not real.simulated
    assert _update(real) == ()
    assert _update(real) == ()
