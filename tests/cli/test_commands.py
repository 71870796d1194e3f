"""Commands as a user runs them, where neither an update nor a cluster is needed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cli.commands import down
from cli.errors import Problem, explain
from cli.places import ROOT
from cli.stack import Stack, read
from rendering.manifests import FolderError
from simulator.errors import SimulatorError
from stacks.settings import SettingsError, known

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
    """Manifests with secrets in them, or several objects in one file."""
    status, output = _hpc("render", "--stack", "dev", "-o", str(tmp_path / "out"))
    assert status == 0, output
    files = sorted((tmp_path / "out").glob("*.yaml"))
    assert f"{len(files)} manifests of stack dev" in output
    assert "securitycontextconstraints.scc-for-mpi.yaml" in [file.name for file in files]
    assert not any(file.name.startswith("secret.") for file in files)


def test_unknown_stack(tmp_path: Path) -> None:
    """A traceback where a name was mistyped, or a word about a cluster that is not there."""
    for command in ("up", "preview"):
        status, output = _hpc(command, "--stack", "nope", HPC_SIM_HOME=str(tmp_path))
        assert status == 1
        assert "no settings for stack 'nope'" in output
        assert f"known stacks: {', '.join(known(ROOT))}" in output
        assert "Traceback" not in output


def test_bad_cluster_name(tmp_path: Path) -> None:
    """A name that becomes a folder outside the home."""
    status, output = _hpc("sim", "up", "--name", "../x", HPC_SIM_HOME=str(tmp_path))
    assert status == 1
    assert "cluster name '../x'" in output


def test_no_cluster(tmp_path: Path) -> None:
    """A kubeconfig path that leads nowhere, or a status that says all is well."""
    assert _hpc("sim", "kubeconfig", HPC_SIM_HOME=str(tmp_path))[0] == 1
    status, output = _hpc("sim", "status", HPC_SIM_HOME=str(tmp_path))
    assert status == 1
    assert "absent" in output
    status, output = _hpc("status", HPC_SIM_HOME=str(tmp_path))
    assert status == 1
    assert "the simulated cluster default is absent" in output
    assert "Traceback" not in output


def test_missing_virtual_environment(tmp_path: Path) -> None:
    """`No such file or directory` on a fresh clone, without a word about what to do."""
    shutil.copy(ROOT / "hpc", tmp_path / "hpc")
    done = subprocess.run([tmp_path / "hpc", "up"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "run `make venv`" in done.stderr


def test_real_cluster_is_not_destroyed_by_accident(monkeypatch: pytest.MonkeyPatch) -> None:
    """`./hpc down` of production, which would take it off its cluster without a question."""
    settings = read("prod").settings
    cluster = settings.cluster.model_copy(update={"simulated": False})
    real = Stack("prod", settings.model_copy(update={"cluster": cluster}))
    monkeypatch.setattr("cli.stack.read", lambda *_: real)
    with pytest.raises(Problem, match="is on a real cluster"):
        down.command("prod")


@pytest.mark.parametrize(
    ("error", "part"),
    [
        (OSError(28, "No space left on device", "/some/file"), "Make room"),
        (PermissionError(13, "Permission denied", "/some/file"), "HPC_SIM_HOME"),
        (Problem("what", "remedy"), "what\nremedy"),
    ],
)
def test_errors_say_what_to_do(error: Exception, part: str) -> None:
    """A full disk or a foreign folder that ends in a traceback."""
    assert part in (explain(error) or "")


@pytest.mark.parametrize("kind", [FolderError, SettingsError, SimulatorError])
def test_errors_of_users_are_known_by_name(kind: type[Exception]) -> None:
    """A class that was renamed or moved, and whose one clear message became a traceback."""
    assert explain(kind("what to do")) == "what to do"


def test_faults_of_the_program_keep_their_traceback() -> None:
    """A bug that is shown as the user's fault."""
    assert explain(KeyError("x")) is None
