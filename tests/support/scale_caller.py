"""A client of the simulated GUI of Storage Scale, without a network."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from werkzeug.test import Client, TestResponse
from werkzeug.wrappers import Request

from toolkit.simulator.access.accounts import Account
from toolkit.simulator.scale_management.service import Service
from toolkit.simulator.scale_management.state import Store, initial

ACCOUNT = Account("hpc", "secret")
CLUSTER = "16217308676014575381"
OBJECTS = {"a.png": 1000, "b.png": 2000, "c.png": 3000}
"""What the bucket a2d2 has."""


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
