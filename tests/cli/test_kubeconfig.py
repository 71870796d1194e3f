"""`./hpc kubeconfig`: a CI job's secret becomes the file that the settings name."""

from pathlib import Path

import pytest

from cli.commands import kubeconfig
from cli.errors import Problem
from cli.stack import Stack, read


def _real(path: Path, monkeypatch: pytest.MonkeyPatch) -> Stack:
    """Make the stack dev one on a real cluster, with its kubeconfig at `path`."""
    dev = read("dev")
    cluster = dev.settings.cluster.model_copy(update={"simulated": False, "kubeconfig": str(path)})
    real = Stack("dev", dev.settings.model_copy(update={"cluster": cluster}))
    monkeypatch.setattr("cli.stack.read", lambda _: real)
    return real


def test_it_is_written_for_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevents a kubeconfig that other users of a runner can read, or that is half there."""
    path = tmp_path / ".kube" / "lab"
    _real(path, monkeypatch)
    monkeypatch.setenv(kubeconfig.VARIABLE, "apiVersion: v1\n")
    for _ in range(2):  # a job that is run again
        kubeconfig.command("dev")
        assert (path.read_text(), path.stat().st_mode & 0o777) == ("apiVersion: v1\n", 0o600)


def test_what_is_there_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevents a person's kubeconfig from being overwritten on a workstation."""
    path = tmp_path / "lab"
    path.write_text("mine")
    _real(path, monkeypatch)
    monkeypatch.setenv(kubeconfig.VARIABLE, "other")
    with pytest.raises(Problem, match="is there and another one"):
        kubeconfig.command("dev")
    assert path.read_text() == "mine"


def test_nothing_to_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevents an empty kubeconfig, of which the next step would complain in other words."""
    with pytest.raises(Problem, match="simulated cluster"):
        kubeconfig.command("dev")
    _real(tmp_path / "lab", monkeypatch)
    monkeypatch.delenv(kubeconfig.VARIABLE, raising=False)
    with pytest.raises(Problem, match="HPC_KUBECONFIG is not set"):
        kubeconfig.command("dev")
