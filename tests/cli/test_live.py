"""Reading a cluster through a kubeconfig that may be anything."""

import json
import socket
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


@pytest.mark.parametrize(("shown_by", "words"), [("", "runs and can"), ("`./hpc sim status`", r"runs \(`./hpc sim")])
def test_only_a_simulated_cluster_has_its_own_status(tmp_path: Path, shown_by: str, words: str) -> None:
    """`./hpc sim status` as the advice for a real cluster that does not answer."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    file = tmp_path / "kubeconfig"
    parts = [
        ("clusters", "cluster", {"server": f"http://127.0.0.1:{port}"}),
        ("users", "user", {"token": "x"}),
        ("contexts", "context", {"cluster": "lab", "user": "lab"}),
    ]
    content = {"apiVersion": "v1", "kind": "Config", **{key: [{"name": "lab", one: it}] for key, one, it in parts}}
    file.write_text(json.dumps(content))
    with pytest.raises(Problem, match=f"does not answer[\\s\\S]*See whether the cluster {words}"):
        Cluster(file, "lab", shown_by).check()
