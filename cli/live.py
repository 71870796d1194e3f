"""Reading a cluster, live: plain objects by kind, over the kubeconfig and context of a stack."""

import builtins
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from apis.kinds import KINDS, Kind
from cli.errors import Problem

_TIMEOUT = 15.0  # seconds
_CHUNK = 1 << 16  # bytes of a download that are in memory at once
_NOT_STARTED = "is waiting to start"  # what a kubelet says of a container that has no log yet

_MANAGER = "hpc"
"""Field manager of what is put right by hand, before an update."""
_CONTENT = {"PUT": "application/json", "PATCH": "application/apply-patch+yaml"}
_LATER = "See what the control plane, and the node that is concerned, say (`oc get nodes`); then run it again."


class RefusedError(Problem):
    """A server that can be reached will not, or cannot, answer this: `reason` is what it says, in a line.

    `late`: it says nothing, until the time is over.
    """

    def __init__(self, what: str, remedy: str, reason: str, *, late: bool = False) -> None:
        super().__init__(what, remedy)
        self.reason, self.late = reason, late


@dataclass(frozen=True)
class Cluster:
    """One cluster through one context; the ambient current context is never used."""

    kubeconfig: Path
    context: str
    shown_by: str = ""
    """The command that shows whether it runs; none for a real cluster."""

    @cached_property
    def _client(self) -> Any:
        # Half a second of imports, and commands that need no cluster do without it.
        from kubernetes import config  # noqa: PLC0415

        if not self.kubeconfig.is_file():
            raise Problem(
                f"there is no kubeconfig {self.kubeconfig}",
                "Correct cluster.kubeconfig in the settings.",
            )
        try:
            connect: Any = config.new_client_from_config
            return connect(str(self.kubeconfig), self.context)
        except (config.ConfigException, yaml.YAMLError, UnicodeDecodeError) as error:
            raise Problem(
                f"{self.kubeconfig} cannot be used with context {self.context!r}: {str(error).splitlines()[0]}",
                "Correct cluster.kubeconfig or cluster.context in the stack's settings.",
            ) from None

    @property
    def server(self) -> str:
        """URL of the API server."""
        return str(self._client.configuration.host)

    def get(self, path: str, **query: str) -> dict[str, Any] | None:
        """GET a path of the API; None when it is not there, Problem when the server cannot or will not answer."""
        with self._reached():
            response = self._request(path, query)
            body = response.read()
        return self._answer(path, int(response.status), body)

    def download(self, path: str, file: Path, **query: str) -> bool:
        """Write what a path answers, of any size, to a file; False where it is not there, or is nothing yet.

        Raises RefusedError when the server will not or cannot answer this, as for a pod whose node is gone, and
        Problem when it cannot be reached. A file is there whole, or as it was.
        """
        with self._reached(behind=path):
            response = self._request(path, query)
            status = int(response.status)
            if status == 200:  # noqa: PLR2004
                _stream(response.response, file)
                return True
            body = response.read()
        if status == 400 and _NOT_STARTED in _message(body):  # noqa: PLR2004
            return False
        self._answer(path, status, body)
        return False

    def tried(self, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return what an object would be if it were replaced by `body`: the server tries it, and changes nothing.

        None where it is not there; raises RefusedError with the server's reason when it would not take it.
        """
        return self._replaced(body, {"dryRun": "All"})

    def replace(self, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """Make an object what `body` says, in whole; return what it is now, None where it is not there. Raises so."""
        return self._replaced(body, {"fieldManager": _MANAGER})

    def _replaced(self, body: Mapping[str, Any], query: Mapping[str, str]) -> dict[str, Any] | None:
        metadata, kind = body["metadata"], self._served(body["apiVersion"], body["kind"])
        if kind is None:
            return None
        path = f"{_path(kind, metadata.get('namespace', ''))}/{metadata['name']}"
        with self._reached():
            response = self._request(path, query, "PUT", body)
            answer = response.read()
        return self._answer(path, int(response.status), answer)

    def share(self, body: Mapping[str, Any], manager: str) -> None:
        """Make `manager` an owner of the fields in `body`, beside those who are: no value changes.

        Raises RefusedError when the server does not let the person do it.
        """
        metadata, kind = body["metadata"], self._served(body["apiVersion"], body["kind"])
        if kind is None:
            return
        path = f"{_path(kind, metadata.get('namespace', ''))}/{metadata['name']}"
        with self._reached():
            response = self._request(path, {"fieldManager": manager}, "PATCH", body)
            answer = response.read()
        self._answer(path, int(response.status), answer)

    def _request(self, path: str, query: Mapping[str, str], method: str = "GET", body: Any = None) -> Any:
        headers = {"Content-Type": _CONTENT[method]} if body is not None else {}
        asked = self._client.param_serialize(
            method, path, query_params=[*query.items()], header_params=headers, body=body, auth_settings=["BearerToken"]
        )
        return self._client.call_api(*asked, _request_timeout=_TIMEOUT)

    @contextmanager
    def _reached(self, behind: str = "") -> Iterator[None]:
        """Turn errors of the connection into Problem; of `behind`, which the server has from a node, too late ones."""
        from urllib3.exceptions import HTTPError, ProtocolError, ReadTimeoutError  # noqa: PLC0415

        try:
            yield
        except HTTPError as error:
            reason = getattr(error, "reason", error)
            if behind and isinstance(reason, ProtocolError | ReadTimeoutError):
                raise RefusedError(
                    f"the API server of context {self.context!r} does not finish {behind}: {_reason(error)}",
                    _LATER,
                    f"the answer does not come, or not to its end: {_reason(error)}",
                    late=isinstance(reason, ReadTimeoutError),
                ) from None
            raise Problem(
                f"the API server of context {self.context!r} does not answer: {_reason(error)}",
                f"See whether the cluster runs{self.shown_by and f' ({self.shown_by})'} and can be reached from here.",
            ) from None

    def _answer(self, path: str, status: int, body: bytes) -> dict[str, Any] | None:
        if status == 404:  # noqa: PLR2004
            return None
        if status in (401, 403):
            raise RefusedError(
                f"the API server of context {self.context!r} refuses {path}: {_message(body)}",
                "Log in again, or use a context whose user may administer the cluster.",
                f"{status}, {_message(body)}",
            )
        if status >= 400:  # noqa: PLR2004
            raise RefusedError(
                f"the API server of context {self.context!r} answers {path} with {status}: {_message(body)}",
                _LATER,
                f"{status}, {_message(body)}",
            )
        found: dict[str, Any] = json.loads(body)
        return found

    def list(self, kind: Kind, namespace: str = "", **query: str) -> list[dict[str, Any]]:
        """Return all objects of a kind, or those of a namespace; none when the cluster does not serve it."""
        return list((self.get(_path(kind, namespace), **query) or {}).get("items") or [])

    def read(self, kind: Kind, namespace: str, name: str) -> dict[str, Any] | None:
        """Return one object, or None."""
        return self.get(f"{_path(kind, namespace)}/{name}")

    def find(self, api_version: str, kind: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """Return the object of a manifest's apiVersion and kind, or None."""
        served = self._served(api_version, kind)
        return self.read(served, namespace, name) if served else None

    def every(self, api_version: str, kind: str) -> "builtins.list[dict[str, Any]]":
        """Return all objects of a manifest's apiVersion and kind; none when the cluster does not serve it."""
        served = self._served(api_version, kind)
        return self.list(served) if served else []

    def check(self) -> None:
        """Raise Problem unless the server answers and knows the person."""
        self.get("/api/v1/namespaces", limit="1")

    def _served(self, api_version: str, kind: str) -> Kind | None:
        known = next((each for each in KINDS if (each.api_version, each.kind) == (api_version, kind)), None)
        return known or self._discover(api_version, kind)

    def _discover(self, api_version: str, kind: str) -> Kind | None:
        group, _, version = api_version.rpartition("/")
        for entry in (self.get(f"/apis/{api_version}" if group else f"/api/{version}") or {}).get("resources") or ():
            if entry["kind"] == kind and "/" not in entry["name"]:
                return Kind(group, version, kind, entry["name"], "Namespaced" if entry["namespaced"] else "Cluster")
        return None


def _stream(response: Any, file: Path) -> None:
    """Write an answer to a file, which is as it was when this fails."""
    unfinished = file.with_suffix(".part")
    try:
        with unfinished.open("wb") as output:
            output.writelines(response.stream(_CHUNK))
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


def _path(kind: Kind, namespace: str = "") -> str:
    base = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    inside = f"/namespaces/{namespace}" if namespace and kind.scope == "Namespaced" else ""
    return f"{base}{inside}/{kind.plural}"


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", error)
    return str(reason).rsplit(": ", maxsplit=1)[-1]


def _message(body: bytes) -> str:
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace")[:200]
