"""An API server with one node, which runs the Job that it is given, as far as a test says."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from werkzeug.wrappers import Request, Response

from tests.support.http_server import as_json, kubeconfig, serving
from toolkit.cli.shared.cluster_client import Cluster


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

    def respond(request: Request) -> Response:
        if request.method == "GET":
            return read(request.path)
        api.sent.append((request.method, request.path))
        if request.method == "DELETE":
            return as_json({"kind": "Status", "message": "may not delete"}, 403) if api.keeps else as_json({})
        if api.refuses:
            return as_json({"kind": "Status", "message": api.refuses[1]}, api.refuses[0])
        api.job = request.get_json()
        return as_json(api.job, 201)

    def read(path: str) -> Response:
        if path.endswith("/log"):
            return Response(api.log)
        lists = {"nodes": [api.node], "pods": [api.pod] if api.pod else [], "events": api.events}
        kind, name = path.rsplit("/", 2)[1:]
        if (kind, name) == ("nodes", node["metadata"]["name"]):
            return as_json(api.node)
        return as_json({"items": lists[name]}) if name in lists else as_json({"message": "not found"}, 404)

    with serving(respond) as port:
        api = JobApi(Cluster(kubeconfig(folder, port), "lab"), node)
        yield api


def pod(phase: str, **status: Any) -> dict[str, Any]:
    """Return the pod of a Job in a phase."""
    return {"metadata": {"name": "tools-x", "namespace": "default"}, "status": {"phase": phase, **status}}
