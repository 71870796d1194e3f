"""The client of API servers, against a server of one answer."""

import base64
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar

import pytest
import urllib3

from core.apis import kubeconfig
from core.apis.client import MERGE_PATCH, ApiError, Client, bearer, cause
from core.apis.kubeconfig import KubeconfigError
from toolkit.simulator.access.pki import Authority


class Answers(BaseHTTPRequestHandler):
    """An API server that has one answer to all, and remembers what it was sent."""

    status, body = 200, b"{}"
    received: ClassVar[list[tuple[str, str, str | None, str | None, bytes]]] = []

    def do_GET(self) -> None:
        """Answer."""
        sent = self.rfile.read(int(self.headers["Content-Length"] or 0))
        headers = (self.headers["Authorization"], self.headers["Content-Type"])
        self.received.append((self.command, self.path, *headers, sent))
        self.send_response(self.status)
        self.send_header("Warning", '299 - "old"')
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    do_PATCH = do_GET

    def log_message(self, *_args: object) -> None:
        """Print nothing."""


@contextmanager
def served(status: int = 200, body: bytes = b"{}") -> Iterator[tuple[str, type[Answers]]]:
    """Serve the answer; yield the address and the handler."""
    handler = type("Handler", (Answers,), {"status": status, "body": body, "received": []})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", handler
        finally:
            server.shutdown()
            thread.join()


def test_a_request_has_the_identity_of_its_moment() -> None:
    """A token is read at each request, since it expires."""
    tokens = iter(("first", "second"))
    with served(body=b'{"a": 1}') as (host, handler):
        client = Client(host, urllib3.PoolManager(), bearer(lambda: next(tokens)), 5)
        assert client.get("/api", limit="1") == {"a": 1}
        answer = client.send("PATCH", "/api", body={"b": 2}, content_type=MERGE_PATCH)
        client.close()
    assert answer.warnings == ('299 - "old"',)
    assert handler.received == [
        ("GET", "/api?limit=1", "Bearer first", None, b""),
        ("PATCH", "/api", "Bearer second", MERGE_PATCH, b'{"b": 2}'),
    ]


@pytest.mark.parametrize(
    ("body", "message"),
    [(json.dumps({"reason": "NotFound", "message": "no such pod"}).encode(), "no such pod"), (b"a page\n", "a page")],
)
def test_a_refusal_is_the_servers_own_text(body: bytes, message: str) -> None:
    """A Status object and the page of a proxy both become an error with a text."""
    with served(404, body) as (host, _), pytest.raises(ApiError, match=message) as refused:
        Client(host, urllib3.PoolManager(), dict, 5).get("/api")
    assert refused.value.missing
    assert not refused.value.conflict


def test_no_answer_is_named_by_its_cause() -> None:
    """The reason below urllib3's wrapping is shown, not the wrapping."""
    with served() as (host, _):
        pass
    with pytest.raises(urllib3.exceptions.HTTPError) as lost:
        Client(host, urllib3.PoolManager(), dict, 5).get("/api")
    assert cause(lost.value) == "[Errno 111] Connection refused"


def test_a_kubeconfig_gives_address_and_identity(tmp_path: Path) -> None:
    """The named context is used, whatever the current one is; a file that is none is one error."""
    file = tmp_path / "kubeconfig"
    with served() as (host, handler):
        parts = [
            ("clusters", "cluster", {"server": host}),
            ("users", "user", {"token": "x"}),
            ("contexts", "context", {"cluster": "lab", "user": "lab"}),
        ]
        content = {"current-context": "other", **{key: [{"name": "lab", one: it}] for key, one, it in parts}}
        file.write_text(json.dumps(content))
        kubeconfig.client(file, "lab", timeout=5).get("/api")
    assert handler.received[0][2] == "Bearer x"
    with pytest.raises(KubeconfigError, match="other"):
        kubeconfig.client(file, "other", timeout=5)


def test_certificates_of_a_kubeconfig_leave_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Certificates that are text in a kubeconfig are in memory: a process that is killed leaves nothing behind."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    authority = Authority.create("lab")
    data = base64.b64encode(authority.certificate).decode()
    cluster = {"server": "https://127.0.0.1:1", "certificate-authority-data": data}
    parts = [
        ("clusters", "cluster", cluster),
        ("users", "user", {"token": "x"}),
        ("contexts", "context", {"cluster": "lab", "user": "lab"}),
    ]
    file = tmp_path / "kubeconfig"
    file.write_text(json.dumps({key: [{"name": "lab", one: it}] for key, one, it in parts}))
    for _ in range(2):
        found = kubeconfig.client(file, "lab", timeout=5)
        assert list((tmp_path / "temporary").iterdir()) == []
    with pytest.raises(urllib3.exceptions.HTTPError) as lost:
        found.get("/api")
    assert cause(lost.value) == "[Errno 111] Connection refused"
    cluster["certificate-authority-data"] = base64.b64encode(b"none").decode()
    file.write_text(json.dumps({key: [{"name": "lab", one: it}] for key, one, it in parts}))
    with pytest.raises(KubeconfigError):
        kubeconfig.client(file, "lab", timeout=5)
    assert list((tmp_path / "temporary").iterdir()) == []
