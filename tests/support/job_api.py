"""An API server with one node, which runs the Job that it is given, as far as a test says."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import yaml

from cli.shared.cluster_client import Cluster


@dataclass
class JobApi:
    """What the server answers, and what it was sent."""

    cluster: Cluster
    node: dict[str, Any]
    log: str = ""
    pod: dict[str, Any] | None = None
    """The pod of the Job; None: it has none."""
    refuses: tuple[int, str] | None = None
    """Status and message with which a Job is refused."""
    keeps: bool = False
    """Whether the server refuses to remove a Job."""
    events: list[dict[str, Any]] = field(default_factory=list)
    sent: list[tuple[str, str]] = field(default_factory=list)
    """Method and path of each request that writes."""
    job: dict[str, Any] | None = None


@contextmanager
def served(folder: Path, node: dict[str, Any]) -> Iterator[JobApi]:
    """Serve a node on a port of this machine, by the kubeconfig `folder/kubeconfig`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            if path.endswith("/log"):
                self._answer(200, api.log.encode())
            elif path.endswith(f"/nodes/{node['metadata']['name']}"):
                self._answer(200, api.node)
            elif path.endswith("/nodes"):
                self._answer(200, {"items": [api.node]})
            elif path.endswith("/pods"):
                self._answer(200, {"items": [api.pod] if api.pod else []})
            elif path.endswith("/events"):
                self._answer(200, {"items": api.events})
            else:
                self._answer(404, {"message": "not found"})

        def do_POST(self) -> None:
            api.sent.append(("POST", self.path))
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if api.refuses:
                self._answer(api.refuses[0], {"kind": "Status", "message": api.refuses[1]})
                return
            api.job = body
            self._answer(201, body)

        def do_DELETE(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            api.sent.append(("DELETE", self.path))
            self._answer(
                403 if api.keeps else 200, {"kind": "Status", "message": "may not delete" if api.keeps else ""}
            )

        def _answer(self, status: int, body: dict[str, Any] | bytes) -> None:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_args: object) -> None:
            """Print nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        file = folder / "kubeconfig"
        parts = [
            ("clusters", "cluster", {"server": f"http://127.0.0.1:{server.server_port}"}),
            ("users", "user", {"token": "x"}),
            ("contexts", "context", {"cluster": "lab", "user": "lab"}),
        ]
        named = {key: [{"name": "lab", one: content}] for key, one, content in parts}
        file.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", **named}))
        api = JobApi(Cluster(file, "lab"), node)
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield api
        finally:
            server.shutdown()
            thread.join()


def pod(phase: str, **status: Any) -> dict[str, Any]:
    """Return the pod of a Job in a phase."""
    return {"metadata": {"name": "tools-x", "namespace": "default"}, "status": {"phase": phase, **status}}
