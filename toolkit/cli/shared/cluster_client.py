"""Read a cluster: plain objects by kind, over the kubeconfig and context of a stack. Nothing here writes to it."""

import builtins
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from core.apis.kinds import KINDS, SUBJECT_ACCESS_REVIEW, Kind
from core.yaml import text as yaml_text
from toolkit.cli.shared.errors import Problem

if TYPE_CHECKING:
    from core.apis.client import Client

_TIMEOUT = 15.0  # seconds
_CHUNK = 1 << 16  # bytes of a download that are in memory at once
_NOT_STARTED = "is waiting to start"  # a kubelet's message about a container that has no log yet

_TRIAL = {"dryRun": "All"}
"""What a request that is not a GET must say: the engine alone writes to a cluster."""
_LATER = "Check the control plane and the node in question (`oc get nodes`); then run it again."


class RefusedError(Problem):
    """A server that can be reached will not, or cannot, answer this: `reason` is its message, in a line.

    `late`: it does not answer in time.
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
    named_by: str = "cluster.kubeconfig or cluster.context in the stack's settings"
    """The settings or options that name its kubeconfig and context."""

    @cached_property
    def _client(self) -> "Client":
        # Half a second of imports, and commands that need no cluster do without it.
        from core.apis.kubeconfig import KubeconfigError, client  # noqa: PLC0415

        if not self.kubeconfig.is_file():
            raise Problem(
                f"there is no kubeconfig {self.kubeconfig}",
                f"Correct {self.named_by}.",
            )
        try:
            return client(self.kubeconfig, self.context, timeout=_TIMEOUT)
        except KubeconfigError as error:
            raise Problem(
                f"{self.kubeconfig} cannot be used with context {self.context!r}: {str(error).splitlines()[0]}",
                f"Correct {self.named_by}.",
            ) from None

    @property
    def server(self) -> str:
        """URL of the API server."""
        return self._client.host

    def get(self, path: str, **query: str) -> dict[str, Any] | None:
        """GET a path of the API; None when it is not there, Problem when the server cannot or will not answer."""
        with self._reached(), closing(self._request(path, query)) as response:
            body = response.data
        return self._answer(path, response.status, body)

    def download(self, path: str, file: Path, **query: str) -> bool:
        """Write what a path answers, of any size, to a file; False where it is not there, or is nothing yet.

        Raises RefusedError when the server will not or cannot answer this, as for a pod whose node is gone, and
        Problem when it cannot be reached. A file is there whole, or as it was.
        """
        with self._reached(behind=path), closing(self._request(path, query)) as response:
            status = response.status
            if status == 200:  # noqa: PLR2004
                _stream(response, file)
                return True
            body = response.data
        if status == 400 and _NOT_STARTED in _message(body):  # noqa: PLR2004
            return False
        self._answer(path, status, body)
        return False

    def dry_run(self, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return what an object would be if it were replaced by `body`: the server tries it, and changes nothing.

        None where it is not there; raises RefusedError with the server's reason when it would not take it.
        """
        metadata, kind = body["metadata"], self._served(body["apiVersion"], body["kind"])
        if kind is None:
            return None
        path = kind.path(metadata.get("namespace"), metadata["name"])
        with self._reached(), closing(self._request(path, _TRIAL, "PUT", body)) as response:
            answer = response.data
        return self._answer(path, response.status, answer)

    def access(self, user: str, groups: Sequence[str], attributes: Mapping[str, str]) -> tuple[bool, str]:
        """Return whether RBAC lets a user do something, and the server's reason; `attributes` are `resourceAttributes`.

        The review is a dry run: the server evaluates it, and stores nothing.
        """
        kind = SUBJECT_ACCESS_REVIEW
        spec = {"user": user, "groups": [*groups], "resourceAttributes": {**attributes}}
        body = {"apiVersion": kind.api_version, "kind": kind.kind, "spec": spec}
        with self._reached(), closing(self._request(kind.path(), _TRIAL, "POST", body)) as response:
            answer = response.data
        status = (self._answer(kind.path(), response.status, answer) or {}).get("status") or {}
        return status.get("allowed") is True, str(status.get("reason") or "")

    def _request(self, path: str, query: Mapping[str, str], method: str = "GET", body: Any = None) -> Any:
        """Send one request; raise ValueError for one that would write to the cluster."""
        if method != "GET" and query.get("dryRun") != "All":
            raise ValueError(f"{method} {path} would write to the cluster, which only the engine does")
        return self._client.open(method, path, query=query, body=body)

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
        document: dict[str, Any] = json.loads(body)
        return document

    def list(self, kind: Kind, namespace: str = "", **query: str) -> list[dict[str, Any]]:
        """Return all objects of a kind, or those of a namespace; none when the cluster does not serve it."""
        return list((self.get(kind.path(namespace), **query) or {}).get("items") or [])

    def table(self, kind: Kind) -> "builtins.list[dict[str, Any]] | None":
        """Return the columns of all objects of a kind, as `kubectl get` shows them; None where it is not served.

        For kinds whose objects are large, and many.
        """
        from core.apis.client import TABLE  # noqa: PLC0415 - as the client itself

        path, query = kind.path(), {"includeObject": "None"}
        with self._reached(), closing(self._client.open("GET", path, query=query, accept=TABLE)) as response:
            body = response.data
        answer = self._answer(path, response.status, body)
        if answer is None:
            return None
        columns = [column["name"] for column in answer.get("columnDefinitions") or []]
        return [dict(zip(columns, row["cells"], strict=True)) for row in answer.get("rows") or []]

    def read(self, kind: Kind, namespace: str, name: str) -> dict[str, Any] | None:
        """Return one object, or None."""
        return self.get(kind.path(namespace, name))

    def find(self, api_version: str, kind: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """Return the object of a manifest's apiVersion and kind, or None."""
        served = self._served(api_version, kind)
        return self.read(served, namespace, name) if served else None

    def find_all(self, api_version: str, kind: str) -> "builtins.list[dict[str, Any]]":
        """Return all objects of a manifest's apiVersion and kind; none when the cluster does not serve it."""
        served = self._served(api_version, kind)
        return self.list(served) if served else []

    def check(self) -> None:
        """Raise Problem unless the server answers and knows the user."""
        self.get("/api/v1/namespaces", limit="1")

    def _served(self, api_version: str, kind: str) -> Kind | None:
        listed_kind = next((entry for entry in KINDS if (entry.api_version, entry.kind) == (api_version, kind)), None)
        return listed_kind or self._discover(api_version, kind)

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


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", error)
    return str(reason).rsplit(": ", maxsplit=1)[-1]


def _message(body: bytes) -> str:
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace")[:200]


def chosen_context(kubeconfig: Path, named: str | None) -> str:
    """Return the context to use: the named one, or the only one; the current context is never used.

    Raises Problem for a file that is not a kubeconfig, and where the context is not decided.
    """
    try:
        content = yaml_text.read(kubeconfig.read_text())
    except FileNotFoundError:
        raise Problem(f"there is no kubeconfig {kubeconfig}", "Correct --kubeconfig.") from None
    except (OSError, yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        # A parser's message quotes the line, and that may be a token.
        why = error.strerror if isinstance(error, OSError) else "it is not YAML"
        raise Problem(f"{kubeconfig} cannot be read: {why}", "Correct --kubeconfig.") from None
    entries = content.get("contexts") if isinstance(content, Mapping) else None
    listed = entries if isinstance(entries, list) else []
    names = [str(context["name"]) for context in listed if isinstance(context, Mapping) and "name" in context]
    if not names:
        raise Problem(f"{kubeconfig} has no context, so it is not a kubeconfig", "Correct --kubeconfig.")
    if named is None and len(names) == 1:
        return names[0]
    if named not in names:
        what = f"has no context {named!r}" if named else f"has {len(names)} contexts"
        raise Problem(f"{kubeconfig} {what}", f"Name one with --context: {', '.join(names)}.")
    return str(named)
