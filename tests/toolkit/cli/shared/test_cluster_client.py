"""Reading a cluster through a kubeconfig that may be anything."""

import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from werkzeug.wrappers import Request, Response

from tests.support.http_server import as_json, kubeconfig, serving
from tests.toolkit.cli.init import kit
from toolkit.cli.shared import cluster_client, session
from toolkit.cli.shared.cluster_client import Cluster, RefusedError, chosen_context
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.stack import Stack

CLI = ROOT / "toolkit" / "cli"


_NUMBERS = """
clusters: [{name: lab, cluster: {server: 7}}]
users: [{name: lab, user: {token: 7}}]
contexts: [{name: lab, context: {cluster: lab, user: lab}}]
"""
_NO_BASE64 = _NUMBERS.replace("server: 7", "server: 'https://lab', certificate-authority-data: 7")


@pytest.mark.parametrize(
    "content", ["a: [", "kind: Config\ncurrent-context: x\n", "\x00\x01", _NUMBERS, _NO_BASE64], ids=repr
)
def test_a_kubeconfig_that_is_none_is_one_message(tmp_path: Path, content: str) -> None:
    """A file that is not a kubeconfig is refused with one message."""
    file = tmp_path / "kubeconfig"
    file.write_text(content)
    with pytest.raises(Problem, match=r"cannot be used with context 'lab'[\s\S]*Correct cluster.kubeconfig"):
        Cluster(file, "lab").check()


def test_a_simulated_cluster_that_does_not_exist_is_named(dev: Stack) -> None:
    """A simulated cluster that was never started is named, with what starts it."""
    with pytest.raises(Problem, match=r"the simulated cluster default is absent[\s\S]*starts it"):
        session.cluster(dev)


@pytest.mark.parametrize(("shown_by", "words"), [("", "runs and can"), ("`./hpc sim status`", r"runs \(`./hpc sim")])
def test_only_a_simulated_cluster_has_its_own_status(tmp_path: Path, shown_by: str, words: str) -> None:
    """`./hpc sim status` is the remedy for a simulated cluster that does not answer, and not for a real one."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(Problem, match=f"does not answer[\\s\\S]*See whether the cluster {words}"):
        Cluster(kubeconfig(tmp_path, port), "lab", shown_by).check()


def test_a_silent_node_is_distinguished_from_a_silent_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log of a silent node is late, and a silent API server is an unreachable cluster."""
    monkeypatch.setattr(cluster_client, "_TIMEOUT", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        cluster = Cluster(kubeconfig(tmp_path, silent.getsockname()[1]), "lab")
        with pytest.raises(RefusedError, match="timed out") as refused:
            cluster.download(LOG, tmp_path / "one.log", container="main")
        assert refused.value.late
        with pytest.raises(Problem, match="does not answer") as unreachable:
            cluster.check()
        assert not isinstance(unreachable.value, RefusedError)


@contextmanager
def _served(folder: Path, status: int, body: bytes, length: int | None = None) -> Iterator[Cluster]:
    """Serve one answer to all; one that says another length breaks off."""

    def respond(_: Request) -> Response:
        answer = Response(body, status)
        answer.automatically_set_content_length = length is None
        if length is not None:
            answer.headers["Content-Length"] = str(length)
        return answer

    with serving(respond) as port:
        yield Cluster(kubeconfig(folder, port), "lab")


def _said(message: str) -> bytes:
    return json.dumps({"kind": "Status", "message": message}).encode()


LOG = "/api/v1/namespaces/adas/pods/one/log"


@pytest.mark.parametrize(
    ("status", "message", "remedy"),
    [
        (403, 'pods "one" is forbidden: User "x" cannot get resource "pods/log"', "Log in again"),
        (500, "Get https://10.0.0.1:10250/containerLogs: dial tcp 10.0.0.1:10250: connect: no route to host", "node"),
        (400, 'previous terminated container "main" in pod "one" not found', "run it again"),
    ],
)
def test_a_log_that_is_refused_says_why_and_what_to_do(tmp_path: Path, status: int, message: str, remedy: str) -> None:
    """A refused log is an error with the server's reason and a remedy, and leaves no file."""
    with _served(tmp_path, status, _said(message)) as cluster, pytest.raises(RefusedError, match=remedy) as refused:
        cluster.download(LOG, tmp_path / "one.log", container="main")
    assert refused.value.reason == f"{status}, {message}"
    assert not (tmp_path / "one.log").exists()


def test_a_container_that_waits_has_no_log_and_no_fault(tmp_path: Path) -> None:
    """A container that has not started has no log, and that is not an error."""
    waits = 'container "main" in pod "one" is waiting to start: ContainerCreating'
    for status, body in ((400, _said(waits)), (404, _said("not found"))):
        with _served(tmp_path, status, body) as cluster:
            assert not cluster.download(LOG, tmp_path / "one.log", container="main")


def test_a_log_that_breaks_off_leaves_what_was_there(tmp_path: Path) -> None:
    """A log that breaks off leaves the former file and no partial one."""
    file = tmp_path / "one.log"
    file.write_bytes(b"earlier\n")
    with _served(tmp_path, 200, b"half", length=9) as cluster, pytest.raises(RefusedError, match="does not finish"):
        cluster.download(LOG, file, container="main")
    assert file.read_bytes() == b"earlier\n"
    assert [one.name for one in tmp_path.glob("*.part")] == []
    with _served(tmp_path, 200, b"whole") as cluster:
        assert cluster.download(LOG, file, container="main")
    assert file.read_bytes() == b"whole"


def test_a_trial_changes_nothing(tmp_path: Path) -> None:
    """A dry run is sent as one, and changes nothing."""
    body = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"}}
    asked: list[tuple[str, str, str]] = []

    def respond(request: Request) -> Response:
        asked.append((request.method, request.full_path, request.headers["Content-Type"]))
        return as_json({})

    with serving(respond) as port:
        assert Cluster(kubeconfig(tmp_path, port), "lab").dry_run(body) == {}
    assert asked == [("PUT", "/api/v1/persistentvolumes/pv?dryRun=All", "application/json")]


@pytest.mark.parametrize("method", ["PUT", "PATCH", "POST", "DELETE"])
def test_no_request_writes(tmp_path: Path, method: str) -> None:
    """The client sends no request that changes a cluster: only the engine writes."""
    cluster = Cluster(kubeconfig(tmp_path, 1), "lab")
    with pytest.raises(ValueError, match=f"{method} /api/v1/namespaces/a would write to the cluster"):
        cluster._request("/api/v1/namespaces/a", {"fieldManager": "hpc"}, method, {})


def test_one_client_queries_clusters() -> None:
    """All commands use the one client that refuses to write; comments, catalogues and storage have own hosts.

    The exceptions create and remove the Job of a node, and set the label of one; each is used by one command only.
    """
    clients = re.compile(
        r"^\s*(?:import|from) (?:kubernetes|urllib3|requests|http\.client|core\.apis\.client|core\.apis\.kubeconfig)\b"
        r"|^\s*from core\.apis import .*\b(?:client|kubeconfig)\b",
        re.M,
    )
    users = {str(file.relative_to(CLI)) for file in CLI.rglob("*.py") if clients.search(file.read_text())}
    assert users == {
        *("shared/cluster_client.py", "shared/cluster_writes.py", "ci/comment_hosts.py"),
        *("hardware/job_writer.py", "nodes/node_marks.py"),
        *("data/discover.py", "data/scale_gui.py", "suite/command.py"),
    }
    assert _importers("cluster_writes") == {"hardware/job_writer.py", "nodes/node_marks.py"}
    assert _importers("job_writer") == {"hardware/node_outputs.py"}
    assert _importers("node_marks") == {"nodes/command.py"}


def _importers(module: str) -> set[str]:
    imports = re.compile(rf"^\s*(?:import|from) .*\b{module}\b", re.M)
    return {str(file.relative_to(CLI)) for file in CLI.rglob("*.py") if imports.search(file.read_text())}


def test_a_trial_that_is_refused_says_why(tmp_path: Path) -> None:
    """A refused dry run has the server's reason; one of an absent object has no answer."""
    body = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"}}
    with _served(tmp_path, 422, _said("spec is immutable")) as cluster, pytest.raises(RefusedError) as refused:
        cluster.dry_run(body)
    assert refused.value.reason == "422, spec is immutable"
    with _served(tmp_path, 404, _said("not found")) as cluster:
        assert cluster.dry_run(body) is None


def test_the_context_is_the_only_one_or_the_chosen_one(tmp_path: Path) -> None:
    """The context is the only one or the named one, and never the current one."""
    assert chosen_context(kit.kubeconfig(tmp_path, "a"), None) == "a"
    assert chosen_context(kit.kubeconfig(tmp_path, "a", "b"), "b") == "b"
    with pytest.raises(Problem, match=r"has 2 contexts\nName one with --context: a, b"):
        chosen_context(kit.kubeconfig(tmp_path, "a", "b"), None)
    with pytest.raises(Problem, match=r"has no context 'c'\nName one with --context: a, b"):
        chosen_context(kit.kubeconfig(tmp_path, "a", "b"), "c")


@pytest.mark.parametrize(
    "content",
    ["a: [", "", "- x", "contexts: x", "contexts: [1, {x: y}]", f'token: "{kit.TOKEN}\n  - :', "\x00", "[" * 20000],
)
def test_a_file_that_is_no_kubeconfig_is_one_message(tmp_path: Path, content: str) -> None:
    """A file that is not a kubeconfig is refused without a line of it, which may be a token."""
    file = tmp_path / "kubeconfig"
    file.write_text(content)
    with pytest.raises(Problem, match=r"Correct --kubeconfig") as error:
        chosen_context(file, None)
    assert kit.TOKEN not in str(error.value)


def test_a_folder_is_no_kubeconfig(tmp_path: Path) -> None:
    """A folder is refused with the system's reason."""
    with pytest.raises(Problem, match=r"cannot be read: Is a directory"):
        chosen_context(tmp_path, None)
