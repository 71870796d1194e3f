"""The few plain requests that starting a cluster takes.

The official client needs half a second to be imported, a tenth of the whole start: it serves the actors.
"""

import http.client
import json
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.errors import SimulatorError

FIELD_MANAGER = "hpc-sim-bootstrap"
POLL_SECONDS = 0.05
OK = range(200, 300)
NOT_FOUND = 404
CONFLICT = 409
TOO_MANY = 429  # also what a kind answers whose definition is just being established
BUSY_SECONDS = 10.0
Manifest = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """Status and body of an answer; the body is parsed when it is JSON."""

    status: int
    body: Any


class Api:
    """A connection to one API server as one user; not for use by several threads at once."""

    def __init__(self, port: int, token: str, ca: Path, timeout: float = 30.0) -> None:
        context = ssl.create_default_context(cafile=str(ca))
        self._connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=timeout, context=context)
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}

    def request(self, method: str, path: str, body: Manifest | None = None, kind: str = "application/json") -> Answer:
        """Send one request, again while the server says "later"; raises OSError when it cannot be reached."""
        deadline = time.monotonic() + BUSY_SECONDS
        while (answer := self._send(method, path, body, kind)).status == TOO_MANY and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        return answer

    def _send(self, method: str, path: str, body: Manifest | None, kind: str) -> Answer:
        response, text = self._exchange(method, path, body, kind)
        is_json = response.headers.get_content_type() == "application/json"
        return Answer(response.status, json.loads(text) if is_json else text.decode(errors="replace"))

    def _exchange(
        self, method: str, path: str, body: Manifest | None = None, kind: str = "application/json"
    ) -> tuple[http.client.HTTPResponse, bytes]:
        headers = {**self._headers, "Content-Type": kind} if body is not None else self._headers
        try:
            self._connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            response = self._connection.getresponse()
            return response, response.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise OSError(f"{method} {path}: {error}") from error

    def get(self, path: str) -> Any:
        """Return what is at `path`, None when there is nothing."""
        answer = self.request("GET", path)
        if answer.status == NOT_FOUND:
            return None
        return _require(answer, f"GET {path}")

    def read(self, path: str) -> bytes:
        """Return what is at `path` as it comes; who reads the same again and again need not parse it again."""
        response, text = self._exchange("GET", path)
        if response.status not in OK:
            _require(Answer(response.status, text.decode(errors="replace")), f"GET {path}")
        return text

    def create(self, path: str, manifest: Manifest) -> None:
        """Create an object in the collection at `path`, unless it is there."""
        answer = self.request("POST", path, manifest)
        if answer.status != CONFLICT:
            _require(answer, f"creating {manifest['metadata']['name']} in {path}")

    def apply(self, path: str, manifest: Manifest) -> Any:
        """Create or update the object at `path` by server-side apply: fields of others stay as they are."""
        target = f"{path}?fieldManager={FIELD_MANAGER}&force=true"
        return _require(self.request("PATCH", target, manifest, "application/apply-patch+yaml"), f"applying {path}")

    def delete(self, path: str) -> None:
        """Delete the object at `path`, if it is there."""
        answer = self.request("DELETE", path)
        if answer.status != NOT_FOUND:
            _require(answer, f"DELETE {path}")

    def answers(self, path: str) -> bool:
        """Tell whether a GET of `path` succeeds at this moment."""
        try:
            return self.request("GET", path).status in OK
        except OSError:
            return False

    def close(self) -> None:
        """End the connection."""
        self._connection.close()


def wait_until(done: Callable[[], bool], *, what: str, seconds: float, check: Callable[[], None]) -> None:
    """Poll `done`; `check` may raise in between; raise TimeoutError when `seconds` are over."""
    deadline = time.monotonic() + seconds
    while not done():
        check()
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} took more than {seconds:.0f} s")
        time.sleep(POLL_SECONDS)


def _require(answer: Answer, doing: str) -> Any:
    if answer.status not in OK:
        message = answer.body.get("message", "") if isinstance(answer.body, dict) else answer.body
        raise SimulatorError(f"{doing}: the API server answered {answer.status}: {message}")
    return answer.body
