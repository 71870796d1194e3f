"""What commands end with where they cannot go on, as a user runs them."""

import shutil
import subprocess
from pathlib import Path

import pytest

from stacks.loading.settings import stack_names
from tests.support.commands import exit_status
from tests.support.states import on_real_cluster
from toolkit.cli import destroy
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.stack import read

pytestmark = pytest.mark.usefixtures("sim_home")


@pytest.mark.parametrize("command", [("up",), ("pulumi", "preview")])
def test_unknown_stack(command: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    """An unknown stack is refused by name, with the known ones."""
    assert exit_status(*command, "--stack", "nope") == 1
    output = capfd.readouterr().err
    assert "no settings for stack 'nope'" in output
    assert f"known stacks: {', '.join(stack_names(ROOT))}" in output
    assert "Traceback" not in output


def test_bad_cluster_name(capfd: pytest.CaptureFixture[str]) -> None:
    """A cluster name that is not a name of a folder is refused."""
    assert exit_status("sim", "up", "--name", "../x") == 1
    assert "cluster name '../x'" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (["sim", "kubeconfig"], "there is no simulated cluster default"),
        (["sim", "status"], "absent"),
        (["status"], "the simulated cluster default is absent"),
    ],
)
def test_no_cluster(arguments: list[str], absent: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Without its cluster, a command reports that, with status 1."""
    assert exit_status(*arguments) == 1
    output = "".join(capfd.readouterr())
    assert absent in output
    assert "Traceback" not in output


def test_missing_virtual_environment(tmp_path: Path) -> None:
    """Without the virtual environment ./hpc fails with the command that makes it."""
    shutil.copy(ROOT / "hpc", tmp_path / "hpc")
    done = subprocess.run([tmp_path / "hpc", "up"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "run `make venv`" in done.stderr


def test_real_cluster_is_not_destroyed_by_accident(monkeypatch: pytest.MonkeyPatch) -> None:
    """`./hpc destroy` of a real cluster is refused with a message."""
    real = on_real_cluster(read("prod"))
    monkeypatch.setattr("toolkit.cli.shared.stack.read", lambda *_: real)
    with pytest.raises(Problem, match="is on a real cluster"):
        destroy.command("prod")
