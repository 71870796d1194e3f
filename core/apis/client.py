"""The client of API servers: requests of one identity, with its timeouts, over connections of urllib3.

The program, the simulator and the command line each put their own vocabulary on it, with their own messages and
retries. It is here because all three may import this room; the test of import directions keeps it out of the others.
"""

import json
import ssl
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import urllib3

JSON = "application/json"
APPLY = "application/apply-patch+yaml"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
TABLE = f"{JSON};as=Table;g=meta.k8s.io;v=v1"
"""What `kubectl get` accepts: a list as its columns alone."""

OK = range(200, 300)
BAD_REQUEST, UNAUTHORIZED, FORBIDDEN, NOT_FOUND, CONFLICT, GONE = 400, 401, 403, 404, 409, 410

Object = dict[str, Any]
Identity = Callable[[], Mapping[str, str]]
"""Returns the headers that say who sends a request; called for each one, because tokens expire."""
Timeout = float | tuple[float, float]
"""Seconds: of a whole request, or to connect and for each answer of the socket."""


class ApiError(Exception):
    """A request that the API server refused; the text is the server's own."""

    def __init__(self, status: int, reason: str, message: str, details: Object | None = None) -> None:
        super().__init__(message or f"{status} {reason}")
        self.status = status
        self.reason = reason
        self.message = message
        self.details = details or {}

    @property
    def forbidden(self) -> bool:
        """Whether RBAC refused it."""
        return self.status == FORBIDDEN

    @property
    def missing(self) -> bool:
        """Whether the object or its kind does not exist."""
        return self.status == NOT_FOUND

    @property
    def conflict(self) -> bool:
        """Whether the object exists already or was changed meanwhile."""
        return self.status == CONFLICT

    @property
    def gone(self) -> bool:
        """Whether a watch's resource version is too old."""
        return self.status == GONE


@dataclass(frozen=True)
class Response:
    """What a server answered, whatever its status."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    warnings: tuple[str, ...] = ()
    """The `Warning` headers."""

    def json(self) -> Any:
        """Return the body, parsed; raise ValueError where it is not JSON."""
        return json.loads(self.body)

    def refusal(self) -> Object:
        """Return the server's Status object, or one that has the body as its message."""
        return status_of(self.status, self.body)

    def required(self) -> Any:
        """Return the body, parsed; raise ApiError where the server refused the request."""
        if self.status not in OK:
            status = self.refusal()
            raise ApiError(self.status, str(status.get("reason", "")), str(status.get("message", "")))
        return self.json()


@dataclass(frozen=True)
class Client:
    """Requests of one identity to the server at `host`; usable by several threads.

    `retries` is urllib3's: False for none, None for its default, three for requests that change nothing.
    """

    host: str
    pool: urllib3.PoolManager
    identity: Identity
    timeout: Timeout
    retries: bool | None = False
    agent: str = "hpc"

    def open(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = JSON,
        timeout: Timeout | None = None,
        accept: str = f"{JSON}, */*",
    ) -> urllib3.BaseHTTPResponse:
        """Send one request and return the response, its body unread: the caller closes it.

        Raises HTTPError (of urllib3) when there is no answer.
        """
        headers = {"Accept": accept, "User-Agent": self.agent, **self.identity()}
        if body is not None:
            headers["Content-Type"] = content_type
        return self.pool.request(
            method,
            f"{self.host}{path}{f'?{urlencode(query)}' if query else ''}",
            body=None if body is None else json.dumps(body),
            headers=headers,
            timeout=_timeout(self.timeout if timeout is None else timeout),
            preload_content=False,
            retries=self.retries,
        )

    def send(self, method: str, path: str, **request: Any) -> Response:
        """Send one request, with the arguments of `open`, and return all of its answer."""
        with closing(self.open(method, path, **request)) as response:
            body = response.read(decode_content=True)
            response.release_conn()
            return Response(response.status, response.headers, body, tuple(response.headers.getlist("Warning")))

    def get(self, path: str, **query: str) -> Any:
        """Return what is at a path; raise ApiError where the server refuses it."""
        return self.send("GET", path, query=query).required()

    def close(self) -> None:
        """Close the connections that no request uses."""
        self.pool.clear()


def bearer(token: Callable[[], str]) -> Identity:
    """Return the identity of a token."""
    return lambda: {"Authorization": f"Bearer {token()}"}


def trusting(ca: str, connections: int) -> urllib3.PoolManager:
    """Return connections to servers that a CA (PEM) signed; as many as `connections` are kept open."""
    return urllib3.PoolManager(maxsize=connections, ssl_context=ssl.create_default_context(cadata=ca))


def status_of(status: int, body: bytes) -> Object:
    """Return the Status object in the body of a refusal, or one that has the body as its message."""
    try:
        status_object = json.loads(body)
    except ValueError:
        status_object = None
    return (
        status_object
        if isinstance(status_object, dict)
        else {"code": status, "message": body.decode(errors="replace").strip()}
    )


def cause(error: BaseException) -> str:
    """Return the reason at the bottom of urllib3's wrapping, such as `[Errno 111] Connection refused`."""
    inner = getattr(error, "reason", None)
    while isinstance(inner, BaseException):
        error, inner = inner, getattr(inner, "reason", None)
    if isinstance(error, urllib3.exceptions.ProtocolError) and isinstance(error.args[-1], BaseException):
        error = error.args[-1]
    text = str(error).rpartition("Failed to establish a new connection: ")[2]
    return text or type(error).__name__


def _timeout(timeout: Timeout) -> urllib3.Timeout:
    if isinstance(timeout, tuple):
        return urllib3.Timeout(connect=timeout[0], read=timeout[1])
    return urllib3.Timeout(total=timeout)
