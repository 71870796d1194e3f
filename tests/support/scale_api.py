"""A client of the simulated GUI of Storage Scale, without a network."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import yaml
from werkzeug.test import Client, TestResponse
from werkzeug.wrappers import Request, Response

from tests.support import http_server
from tests.support.recorded import ROOT
from toolkit.simulator import state as states
from toolkit.simulator.access import accounts
from toolkit.simulator.access.accounts import Account
from toolkit.simulator.access.pki import create
from toolkit.simulator.home import Layout
from toolkit.simulator.scale_management.service import Service
from toolkit.simulator.scale_management.state import Store, initial
from toolkit.simulator.state import ClusterSpec, PortNumbers, ScaleGui, State

ACCOUNT = Account("hpc", "secret")
CLUSTER = "16217308676014575381"
OBJECTS = {"a.png": 1000, "b.png": 2000, "c.png": 3000}
"""What the bucket a2d2 has."""

TABLE = ROOT / "tests" / "support" / "scale_rest.yaml"
_LEAVES = {"text": str, "number": int, "flag": bool, "any": object}


class Caller:
    """A client of a service over a file; `homes` are its buckets."""

    def __init__(self, file: Path, *, page: int = 1000, account: Account = ACCOUNT) -> None:
        self.homes: dict[str, Mapping[str, int]] = {"a2d2": OBJECTS}
        store = Store(file, initial(CLUSTER, ("fs1", "fs2")))
        self.service = Service(store, account, self.homes.get, page=page)
        self.client = Client(Request.application(self.service.respond))

    def send(self, method: str, path: str, body: Any = None, **query: str) -> TestResponse:
        """Send a request."""
        return self.client.open(
            f"/scalemgmt/v2/{path}",
            method=method,
            json=body,
            query_string=query,
            auth=(self.service.account.user, self.service.account.password),
        )

    def get(self, path: str, **query: str) -> Any:
        """Return what a GET answers."""
        return self.send("GET", path, **query).json

    def job(self, method: str, path: str, body: Any = None, **query: str) -> dict[str, Any]:
        """Make a change, and return its job once it is finished."""
        answer = self.send(method, path, body, **query)
        assert answer.json is not None
        assert answer.status_code == 202, answer.json
        job: dict[str, Any] = answer.json["jobs"][0]
        while job["status"] == "RUNNING":
            job = self.get(f"jobs/{job['jobId']}", fields=":all:")["jobs"][0]
        return job

    def cache(self, name: str = "pvc-a", **quota: str) -> None:
        """Make a cache of the bucket, with a quota in bytes."""
        self.job("PUT", "bucket/keys", {"bucket": "a2d2", "accessKey": "k", "secretKey": "s", "server": "home-map"})
        body = {"filesetName": name, "mode": "ro", "endpoint": "https://home-map:443", "bucket": "a2d2"}
        assert self.job("POST", "filesystems/fs1/filesets/cos", body)["status"] == "COMPLETED"
        if quota:
            self.quota(name, **quota)

    def quota(self, name: str, **limits: str) -> None:
        """Set the limits of a fileset."""
        body = {"operationType": "setQuota", "quotaType": "fileset", "objectName": name, **limits}
        assert self.job("POST", "filesystems/fs1/quotas", body)["status"] == "COMPLETED"

    def download(self, name: str = "pvc-a", **body: Any) -> dict[str, Any]:
        """Queue objects of a cache at its gateway."""
        return self.job("POST", f"filesystems/fs1/filesets/{name}/cos/download", {"path": f"/fs1/{name}", **body})

    def state(self, name: str = "pvc-a") -> dict[str, Any]:
        """Return the AFM state of a cache."""
        states = self.get("filesystems/fs1/afm/state", filter=f"filesetName={name}")["filesetAfmStateList"]
        return dict(states[0])

    def usage(self, name: str = "pvc-a") -> int:
        """Return the KiB that a fileset uses."""
        return int(self.get("filesystems/fs1/quotas", filter=f"objectName={name}")["quotas"][0]["blockUsage"])


@cache
def table() -> dict[str, Any]:
    """Return the table."""
    content: dict[str, Any] = yaml.safe_load(TABLE.read_text())
    return content


def calls() -> list[dict[str, Any]]:
    """Return the calls in their order."""
    listed: list[dict[str, Any]] = table()["calls"]
    return listed


def faults(value: Any, shape: Any, place: str = "") -> list[str]:
    """Return how a value differs from a shape: keys that are missing, and values of another type."""
    if isinstance(shape, str):
        wrong = not isinstance(value, _LEAVES[shape]) or (shape == "number" and isinstance(value, bool))
        return [f"{place}: {value!r} is no {shape}"] if wrong else []
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [f"{place}: {value!r} is not a list"]
        return [fault for number, item in enumerate(value) for fault in faults(item, shape[0], f"{place}[{number}]")]
    if not isinstance(value, Mapping):
        return [f"{place}: {value!r} is not an object"]
    problems = []
    for key, inner in shape.items():
        name = key.removesuffix("~")
        if name in value:
            problems += faults(value[name], inner, f"{place}.{name}")
        elif name == key:
            problems.append(f"{place}.{name} is missing")
    return problems


def template(path: str) -> str:
    """Return a path of the table with braces in place of the names that its examples have."""
    names = ("fs1", "pvc-a", "lake", "gone", "home-map", "a2d2", "2000000000001", "sets", "sets%2Fa2d2")
    return "/".join("{}" if part in names else part for part in path.split("/"))


def path(path_info: str) -> str:
    """Return a request's path as the table has paths."""
    return unquote(path_info).removeprefix("/scalemgmt/v2/")


class Served:
    """A GUI, and the requests to it: method, path below its base, query."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.asked: list[tuple[str, str, dict[str, list[str]]]] = []

    def respond(self, request: Request) -> Response:
        """Answer a request, and note it."""
        parts = urlsplit(request.url)
        self.asked.append((request.method, path(parts.path), parse_qs(parts.query)))
        return self.caller.service.respond(request)


@contextmanager
def serving(layout: Layout) -> Iterator[Served]:
    """Serve the GUI of a cluster in a folder, which is recorded there as running."""
    pki = create(layout.pki, layout.home.name)
    served = Served(Caller(layout.scale_state, account=accounts.create(layout.scale_account)))
    with http_server.serving(served.respond, pki) as port:
        ports = PortNumbers(api=1, etcd=2, etcd_peer=3, kubelet=4, scale_gui=port)
        spec = ClusterSpec(name=layout.home.name, scale_gui=ScaleGui(cluster_id=CLUSTER, file_systems=("fs1", "fs2")))
        states.save(layout, State(spec=spec, ports=ports))
        yield served
