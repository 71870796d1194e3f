"""Commands as a user runs them, where neither an update nor a cluster is needed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cli import down
from cli.shared.errors import Problem, explain
from cli.shared.paths import ROOT
from cli.shared.stack import read
from rendering.manifests import FolderError
from simulator.errors import SimulatorError
from stacks.settings import SettingsError, known
from tests.support.states import on_real_cluster

# Not for the engine's sake: each starts ./hpc, and takes a second for it.
pytestmark = pytest.mark.engine


def _hpc(*arguments: str, **variables: str) -> tuple[int, str]:
    done = subprocess.run(
        [ROOT / "hpc", *arguments],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout


def test_render(tmp_path: Path) -> None:
    """`render` writes one object a file, and no Secrets."""
    status, output = _hpc("render", "--stack", "dev", "-o", str(tmp_path / "out"))
    assert status == 0, output
    files = sorted((tmp_path / "out").glob("*.yaml"))
    assert f"{len(files)} manifests of stack dev" in output
    assert "securitycontextconstraints.scc-for-mpi.yaml" in [file.name for file in files]
    assert not any(file.name.startswith("secret.") for file in files)


def test_unknown_stack(tmp_path: Path) -> None:
    """An unknown stack is refused by name, with the known ones."""
    for command in ("up", "preview"):
        status, output = _hpc(command, "--stack", "nope", HPC_SIM_HOME=str(tmp_path))
        assert status == 1
        assert "no settings for stack 'nope'" in output
        assert f"known stacks: {', '.join(known(ROOT))}" in output
        assert "Traceback" not in output


def test_bad_cluster_name(tmp_path: Path) -> None:
    """A cluster name that is no name of a folder is refused."""
    status, output = _hpc("sim", "up", "--name", "../x", HPC_SIM_HOME=str(tmp_path))
    assert status == 1
    assert "cluster name '../x'" in output


def test_no_cluster(tmp_path: Path) -> None:
    """Without its cluster, a command reports that it is absent, with status 1."""
    assert _hpc("sim", "kubeconfig", HPC_SIM_HOME=str(tmp_path))[0] == 1
    status, output = _hpc("sim", "status", HPC_SIM_HOME=str(tmp_path))
    assert status == 1
    assert "absent" in output
    status, output = _hpc("status", HPC_SIM_HOME=str(tmp_path))
    assert status == 1
    assert "the simulated cluster default is absent" in output
    assert "Traceback" not in output


def test_missing_virtual_environment(tmp_path: Path) -> None:
    """Without the virtual environment ./hpc fails with the command that makes it."""
    shutil.copy(ROOT / "hpc", tmp_path / "hpc")
    done = subprocess.run([tmp_path / "hpc", "up"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "run `make venv`" in done.stderr


def test_real_cluster_is_not_destroyed_by_accident(monkeypatch: pytest.MonkeyPatch) -> None:
    """`./hpc down` of a real cluster is refused with a message."""
    real = on_real_cluster(read("prod"))
    monkeypatch.setattr("cli.shared.stack.read", lambda *_: real)
    with pytest.raises(Problem, match="is on a real cluster"):
        down.command("prod")


@pytest.mark.parametrize(
    ("error", "part"),
    [
        (OSError(28, "No space left on device", "/some/file"), "Free some space"),
        (PermissionError(13, "Permission denied", "/some/file"), "HPC_SIM_HOME"),
        (Problem("what", "remedy"), "what\nremedy"),
    ],
)
def test_errors_say_what_to_do(error: Exception, part: str) -> None:
    """Errors that a user can correct are explained with a remedy."""
    assert part in (explain(error) or "")


@pytest.mark.parametrize("kind", [FolderError, SettingsError, SimulatorError])
def test_errors_of_users_are_known_by_name(kind: type[Exception]) -> None:
    """The errors of every room that a user can correct are explained by their message."""
    assert explain(kind("what to do")) == "what to do"


def test_faults_of_the_program_keep_their_traceback() -> None:
    """Any other error is not explained, and keeps its traceback."""
    assert explain(KeyError("x")) is None
