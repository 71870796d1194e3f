"""One identity's access to the API server: plain JSON objects over the official client's connections."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import urllib3
from kubernetes import client, config

from apis.kinds import Kind

Object = dict[str, Any]
Token = Callable[[], str]

WATCH_SECONDS = 300
"""How long one watch request lasts before it is opened again."""
CONNECTIONS = 64
"""Kept connections: one per watch, and a few for requests. More are opened and dropped as needed."""


class ApiError(Exception):
    """A request that the API server refused: what was asked, by whom, and the server's own message."""

    def __init__(self, who: str, verb: str, resource: str, answer: Object) -> None:
        self.verb = verb
        self.resource = resource
        self.status = int(answer.get("code", 0))
        self.reason = str(answer.get("reason", ""))
        self.message = str(answer.get("message", ""))
        super().__init__(f"{who}: {verb} {resource}: {self.status} {self.reason}: {self.message}")

    @property
    def forbidden(self) -> bool:
        """Whether RBAC refused it."""
        return self.status == 403  # noqa: PLR2004

    @property
    def missing(self) -> bool:
        """Whether the object or its kind is not there."""
        return self.status == 404  # noqa: PLR2004

    @property
    def conflict(self) -> bool:
        """Whether the object exists already or was changed meanwhile."""
        return self.status == 409  # noqa: PLR2004

    @property
    def gone(self) -> bool:
        """Whether a watch's resource version is too old."""
        return self.status == 410  # noqa: PLR2004


class Server:
    """Address and connections of the API server, shared by all identities."""

    def __init__(self, kubeconfig: Path) -> None:
        self._client: Any = config.new_client_from_config(  # type: ignore[no-untyped-call]
            str(kubeconfig), client_configuration=_wide_configuration(), persist_config=False
        )
        self.host: str = self._client.configuration.host
        self.ca_file: str = self._client.configuration.ssl_ca_cert
        self.pool: urllib3.PoolManager = self._client.rest_client.pool_manager

    @property
    def token(self) -> str:
        """The token of the kubeconfig's user."""
        value: str = self._client.configuration.get_api_key_with_prefix("BearerToken")
        return value.removeprefix("Bearer ")


def _wide_configuration() -> Any:
    configuration = client.Configuration()
    configuration.connection_pool_maxsize = CONNECTIONS
    return configuration


class Api:
    """Requests of one identity; `who` names it in errors and as the field manager."""

    def __init__(self, server: Server, token: Token, who: str) -> None:
        self.server = server
        self.who = who
        self.token = token

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Object:
        """Return an object; ApiError (`missing`) when it is not there."""
        return self._call("get", kind, namespace, name)

    def find(self, kind: Kind, name: str, namespace: str | None = None) -> Object | None:
        """Return an object, or None when it is not there."""
        try:
            return self.get(kind, name, namespace)
        except ApiError as error:
            if error.missing:
                return None
            raise

    def list(self, kind: Kind, namespace: str | None = None, selector: str = "") -> Object:
        """Return the list object of a kind, of one namespace or all, by label selector."""
        query = {"labelSelector": selector} if selector else {}
        return self._call("list", kind, namespace, query=query)

    def create(
        self, kind: Kind, body: Object, namespace: str | None = None, *, sub: str = "", name: str = ""
    ) -> Object:
        """Create an object, or with `name` and `sub` a subresource of one, such as a token."""
        return self._call("create", kind, namespace, name, sub=sub, body=body)

    def patch(self, kind: Kind, name: str, body: Object, namespace: str | None = None, *, sub: str = "") -> Object:
        """Merge `body` into an object (JSON merge patch: null removes)."""
        return self._call("patch", kind, namespace, name, sub=sub, body=body)

    def annotate(
        self, kind: Kind, name: str, annotations: dict[str, str | None], namespace: str | None = None
    ) -> Object:
        """Set annotations; None removes one."""
        return self.patch(kind, name, {"metadata": {"annotations": annotations}}, namespace)

    def apply(self, kind: Kind, body: Object) -> Object:
        """Create or update an object by server-side apply."""
        meta = body["metadata"]
        query = {"fieldManager": self.who, "force": "true"}
        content = "application/apply-patch+yaml"
        return self._call("patch", kind, meta.get("namespace"), meta["name"], query=query, body=body, content=content)

    def delete(self, kind: Kind, name: str, namespace: str | None = None) -> None:
        """Delete an object and, in the background, what it owns; one that is not there is as good."""
        try:
            self._call("delete", kind, namespace, name, body={"propagationPolicy": "Background"})
        except ApiError as error:
            if not error.missing:
                raise

    def watch(self, kind: Kind, namespace: str | None, version: str, opened: Callable[[Any], None]) -> Iterator[Object]:
        """Yield watch events from resource version `version` on; `opened` gets the response, to shut it down."""
        query = {
            "watch": "true",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(WATCH_SECONDS),
        }
        with closing(self._open("watch", kind, namespace, query=query)) as response:
            opened(response)
            rest = b""
            for chunk in response.stream(65536, decode_content=True):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    event: Object = json.loads(line)
                    if event["type"] == "ERROR":
                        raise ApiError(self.who, "watch", kind.plural, event["object"])
                    yield event

    def _call(self, verb: str, kind: Kind, namespace: str | None, name: str = "", **more: Any) -> Object:
        with closing(self._open(verb, kind, namespace, name, **more)) as response:
            answer: Object = json.loads(response.read(decode_content=True))
            response.release_conn()
            return answer

    def _open(
        self,
        verb: str,
        kind: Kind,
        namespace: str | None,
        name: str = "",
        *,
        sub: str = "",
        query: dict[str, str] | None = None,
        body: Object | None = None,
        content: str | None = None,
    ) -> urllib3.BaseHTTPResponse:
        method = {"create": "POST", "patch": "PATCH", "delete": "DELETE"}.get(verb, "GET")
        url = self.server.host + path(kind, namespace, name, sub) + (f"?{urlencode(query)}" if query else "")
        headers = {"Authorization": f"Bearer {self.token()}", "User-Agent": f"hpc-sim/{self.who}"}
        if body is not None:
            headers["Content-Type"] = content or (
                "application/merge-patch+json" if verb == "patch" else "application/json"
            )
        read = WATCH_SECONDS + 30 if verb == "watch" else 30
        response = self.server.pool.request(
            method,
            url,
            body=None if body is None else json.dumps(body),
            headers=headers,
            timeout=urllib3.Timeout(connect=5, read=read),
            preload_content=False,
            retries=False,
        )
        if response.status >= 400:  # noqa: PLR2004
            with closing(response):
                resource = "/".join(filter(None, [kind.plural, sub]))
                where = " ".join(filter(None, [resource, name, f"in {namespace}" if namespace else ""]))
                raise ApiError(self.who, verb, where, _status(response))
        return response


def path(kind: Kind, namespace: str | None, name: str = "", sub: str = "") -> str:
    """Return the URL path of an object, a collection (no `name`) or a subresource."""
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    where = f"/namespaces/{namespace}" if namespace and kind.scope == "Namespaced" else ""
    return root + where + "".join(f"/{part}" for part in (kind.plural, name, sub) if part)


def _status(response: urllib3.BaseHTTPResponse) -> Object:
    text = response.data.decode(errors="replace")
    try:
        status = json.loads(text)
    except ValueError:
        status = None
    return status if isinstance(status, dict) else {"code": response.status, "message": text.strip()}


class RenewedToken:
    """A token that is asked for again before it expires; `ask` returns it and its life in seconds."""

    def __init__(self, ask: Callable[[], tuple[str, float]]) -> None:
        self._ask = ask
        self._value = ""
        self._until = 0.0

    def __call__(self) -> str:
        """Return a token that is valid for a while yet."""
        if time.monotonic() > self._until:
            self._value, life = self._ask()
            self._until = time.monotonic() + 0.8 * life
        return self._value
