"""`./hpc ci kubeconfig`: a CI job's secret becomes the file that the settings name."""

from pathlib import Path

import pytest

from tests.support.states import on_real_cluster
from toolkit.cli.ci import kubeconfig
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import read


def _real(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the stack dev one on a real cluster, with its kubeconfig at `path`."""
    real = on_real_cluster(read("dev"), kubeconfig=str(path))
    monkeypatch.setattr("toolkit.cli.shared.stack.read", lambda _: real)


def test_it_is_written_for_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kubeconfig is written for its owner alone, again by a second run."""
    path = tmp_path / ".kube" / "lab"
    _real(path, monkeypatch)
    monkeypatch.setenv(kubeconfig.VARIABLE, "apiVersion: v1\n")
    for _ in range(2):  # a job that is run again
        kubeconfig.command("dev")
        assert (path.read_text(), path.stat().st_mode & 0o777) == ("apiVersion: v1\n", 0o600)


def test_what_is_there_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kubeconfig with other content is refused and left as it is."""
    path = tmp_path / "lab"
    path.write_text("mine")
    _real(path, monkeypatch)
    monkeypatch.setenv(kubeconfig.VARIABLE, "other")
    with pytest.raises(Problem, match="exists with other content"):
        kubeconfig.command("dev")
    assert path.read_text() == "mine"


def test_nothing_to_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulated cluster needs no kubeconfig, and a missing HPC_KUBECONFIG is named."""
    with pytest.raises(Problem, match="simulated cluster"):
        kubeconfig.command("dev")
    _real(tmp_path / "lab", monkeypatch)
    monkeypatch.delenv(kubeconfig.VARIABLE, raising=False)
    with pytest.raises(Problem, match="HPC_KUBECONFIG is not set"):
        kubeconfig.command("dev")
