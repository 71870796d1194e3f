"""Reading a cluster through a kubeconfig that may be anything."""

from pathlib import Path

import pytest

from cli import session
from cli.errors import Problem
from cli.live import Cluster
from cli.stack import read


@pytest.mark.parametrize("content", ["a: [", "kind: Config\ncurrent-context: x\n", "\x00\x01"])
def test_a_kubeconfig_that_is_none_is_one_message(tmp_path: Path, content: str) -> None:
    """A traceback of the YAML reader for a setting that names the wrong file."""
    file = tmp_path / "kubeconfig"
    file.write_text(content)
    with pytest.raises(Problem, match=r"cannot be used with context 'lab'[\s\S]*Correct cluster.kubeconfig"):
        Cluster(file, "lab").check()


def test_a_simulated_cluster_that_is_not_there_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused connection shown for a cluster that nobody has started."""
    monkeypatch.setenv("HPC_SIM_HOME", str(tmp_path))
    with pytest.raises(Problem, match=r"the simulated cluster default is absent[\s\S]*starts it"):
        session.cluster(read("dev"))
