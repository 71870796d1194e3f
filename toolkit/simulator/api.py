"""The few plain requests that starting a cluster takes, by path; and kubeconfigs, with one context, a CA and a token.

The actors' requests, by kind, are in `toolkit.simulator.actors.api`; both are `core.apis.client` underneath.
"""

import base64
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from urllib3.exceptions import HTTPError

from core.apis.client import APPLY, CONFLICT, JSON, NOT_FOUND, OK, Client, Response, bearer, cause, trusting
from core.simulated import context_name
from core.yaml import text as yaml_text
from toolkit.engine.errors import SimulatorError

FIELD_MANAGER = "hpc-sim-bootstrap"
POLL_SECONDS = 0.05
TOO_MANY = 429  # also the answer for a kind whose definition is just being established
BUSY_SECONDS = 10.0
CONNECTIONS = 16
"""Connections that are kept open: a start sends four requests at once, the webhook as many as pods come at once."""
Manifest = dict[str, Any]


class Api:
    """Requests to one API server as one user."""

    def __init__(self, port: int, token: str, ca: Path, timeout: float = 30.0) -> None:
        pool = trusting(ca.read_text(), CONNECTIONS)
        self._client = Client(f"https://127.0.0.1:{port}", pool, bearer(lambda: token), timeout)

    def request(self, method: str, path: str, body: Manifest | None = None, kind: str = JSON) -> Response:
        """Send one request, again while the server says "later"; raises OSError when it cannot be reached."""
        deadline = time.monotonic() + BUSY_SECONDS
        while (answer := self._send(method, path, body, kind)).status == TOO_MANY and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        return answer

    def _send(self, method: str, path: str, body: Manifest | None = None, kind: str = JSON) -> Response:
        try:
            return self._client.send(method, path, body=body, content_type=kind)
        except (OSError, HTTPError) as error:
            raise OSError(f"{method} {path}: {cause(error)}") from error

    def get(self, path: str) -> Any:
        """Return what is at `path`, None when there is nothing."""
        answer = self.request("GET", path)
        if answer.status == NOT_FOUND:
            return None
        return _require(answer, f"GET {path}")

    def read(self, path: str) -> bytes:
        """Return what is at `path`, not parsed: a caller that reads the same again compares the bytes."""
        answer = self._send("GET", path)
        _require_ok(answer, f"GET {path}")
        return answer.body

    def create(self, path: str, manifest: Manifest) -> None:
        """Create an object in the collection at `path`, unless it is there."""
        answer = self.request("POST", path, manifest)
        if answer.status != CONFLICT:
            _require_ok(answer, f"creating {manifest['metadata']['name']} in {path}")

    def apply(self, path: str, manifest: Manifest) -> Any:
        """Create or update the object at `path` by server-side apply: fields of others stay as they are."""
        target = f"{path}?fieldManager={FIELD_MANAGER}&force=true"
        return _require(self.request("PATCH", target, manifest, APPLY), f"applying {path}")

    def delete(self, path: str) -> None:
        """Delete the object at `path`, if it is there."""
        answer = self.request("DELETE", path)
        if answer.status != NOT_FOUND:
            _require_ok(answer, f"DELETE {path}")

    def answers(self, path: str) -> bool:
        """Return whether a GET of `path` succeeds at this moment."""
        try:
            return self.request("GET", path).status in OK
        except OSError:
            return False

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def wait_until(done: Callable[[], bool], *, what: str, seconds: float, check: Callable[[], None]) -> None:
    """Poll `done`; `check` may raise in between; raise TimeoutError when `seconds` are over."""
    deadline = time.monotonic() + seconds
    while not done():
        check()
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} took more than {seconds:.0f} s")
        time.sleep(POLL_SECONDS)


def _require(answer: Response, doing: str) -> Any:
    _require_ok(answer, doing)
    return answer.json()


def _require_ok(answer: Response, doing: str) -> None:
    if answer.status not in OK:
        message = answer.refusal().get("message", "")
        raise SimulatorError(f"{doing}: the API server answered {answer.status}: {message}")


@dataclass(frozen=True, repr=False)
class Kubeconfig:
    """Where an API server is, and who asks it; the token is not shown when it is printed."""

    server: str
    ca: str
    """In PEM."""
    token: str


def kubeconfig_text(*, cluster: str, server: str, ca: bytes, user: str, token: str) -> str:
    """Return the text of a kubeconfig with one context, which is also the current one."""
    context = context_name(cluster)
    where = {"server": server, "certificate-authority-data": base64.b64encode(ca).decode()}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": context, "cluster": where}],
            "users": [{"name": user, "user": {"token": token}}],
            "contexts": [{"name": context, "context": {"cluster": context, "user": user, "namespace": "default"}}],
            "current-context": context,
        },
        sort_keys=False,
    )


def read_kubeconfig(path: Path) -> Kubeconfig:
    """Read a kubeconfig that `kubeconfig_text` made."""
    content = yaml_text.read(path.read_text())
    where = content["clusters"][0]["cluster"]
    ca = base64.b64decode(where["certificate-authority-data"]).decode()
    return Kubeconfig(where["server"], ca, content["users"][0]["user"]["token"])
