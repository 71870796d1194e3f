"""One identity's access to the API server, by kind: plain JSON objects; a watch has one event in memory at a time.

And the conditions and times of their status.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import urllib3

import core.apis.client
from core.apis.client import APPLY, BAD_REQUEST, JSON, MERGE_PATCH, Client, Object, bearer, status_of, trusting
from core.apis.kinds import Kind
from toolkit.simulator.api import read_kubeconfig

__all__ = ["Api", "ApiError", "Object", "RenewedToken", "Server"]

Token = Callable[[], str]

WATCH_SECONDS = 300
"""How long one watch request lasts before it is opened again."""
TIMEOUT = (5, 30)
"""Seconds to connect, and to wait for an answer."""
CONNECTIONS = 64
"""Kept connections: one per watch, and a few for requests. More are opened and dropped as needed."""
# Kinds that only the simulated cluster handles, beside those of `core.apis.kinds`.
OLM_CONFIG = Kind("operators.coreos.com", "v1", "OLMConfig", "olmconfigs", "Cluster")
EVICTION = Kind("policy", "v1", "Eviction", "evictions")
CSI_DRIVER = Kind("storage.k8s.io", "v1", "CSIDriver", "csidrivers", "Cluster")
SCALE_DAEMON = Kind("scale.spectrum.ibm.com", "v1beta1", "Daemon", "daemons")
LEASE = Kind("coordination.k8s.io", "v1", "Lease", "leases")
LOGS = Kind("kwok.x-k8s.io", "v1alpha1", "Logs", "logs")
SERVICE = Kind("", "v1", "Service", "services")
ENDPOINT_SLICE = Kind("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices")
VALIDATING_POLICY = Kind(
    "admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", "Cluster"
)
VALIDATING_POLICY_BINDING = Kind(
    "admissionregistration.k8s.io",
    "v1",
    "ValidatingAdmissionPolicyBinding",
    "validatingadmissionpolicybindings",
    "Cluster",
)
VALIDATING_WEBHOOK_CONFIGURATION = Kind(
    "admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", "Cluster"
)


class ApiError(core.apis.client.ApiError):
    """A request that the API server refused: what was requested, by whom, and the server's own message."""

    def __init__(self, who: str, verb: str, resource: str, answer: Object) -> None:
        super().__init__(int(answer.get("code", 0)), str(answer.get("reason", "")), str(answer.get("message", "")))
        self._request = f"{who}: {verb} {resource}"

    def __str__(self) -> str:
        return f"{self._request}: {self.status} {self.reason}: {self.message}"


class Server:
    """Address and connections of a simulated cluster's API server, shared by all identities."""

    def __init__(self, kubeconfig: Path) -> None:
        access = read_kubeconfig(kubeconfig)
        self.host, self.ca, self.token = access.server, access.ca, access.token
        self.pool = trusting(self.ca, CONNECTIONS)


class Api:
    """Requests of one identity; `who` names it in errors and as the field manager."""

    def __init__(self, server: Server, token: Token, who: str) -> None:
        self.server = server
        self.who = who
        self.token = token
        self._client = Client(server.host, server.pool, bearer(token), TIMEOUT, agent=f"hpc-sim/{who}")

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Object:
        """Return an object; raise ApiError (`missing`) where there is none."""
        return self._call("get", kind, namespace, name)

    def find(self, kind: Kind, name: str, namespace: str | None = None) -> Object | None:
        """Return an object, or None where there is none."""
        try:
            return self.get(kind, name, namespace)
        except ApiError as error:
            if error.missing:
                return None
            raise

    def list(self, kind: Kind, namespace: str | None = None, selector: str = "", fields: str = "") -> Object:
        """Return the list object of a kind, of one namespace or all, by label selector and field selector."""
        selectors = {"labelSelector": selector, "fieldSelector": fields}
        return self._call("list", kind, namespace, query={name: text for name, text in selectors.items() if text})

    def create(
        self, kind: Kind, body: Object, namespace: str | None = None, *, sub: str = "", name: str = ""
    ) -> Object:
        """Create an object, or with `name` and `sub` a subresource of one, such as a token."""
        return self._call("create", kind, namespace, name, sub=sub, body=body)

    def patch(self, kind: Kind, name: str, body: Object, namespace: str | None = None, *, sub: str = "") -> Object:
        """Merge `body` into an object (JSON merge patch: null removes)."""
        return self._call("patch", kind, namespace, name, sub=sub, body=body)

    def replace(self, kind: Kind, body: Object) -> Object:
        """Write a whole object as it is read; raise ApiError (`conflict`) where another has written it since."""
        meta = body["metadata"]
        return self._call("update", kind, meta.get("namespace"), meta["name"], body=body)

    def annotate(
        self, kind: Kind, name: str, annotations: dict[str, str | None], namespace: str | None = None
    ) -> Object:
        """Set annotations; None removes one."""
        return self.patch(kind, name, {"metadata": {"annotations": annotations}}, namespace)

    def set_status(self, kind: Kind, obj: Object, status: Object, **stamp: str) -> Object:
        """Write fields of an object's status, unless it has them; `stamp` is written with them, and compared never.

        Return the object as it is then.
        """
        have = obj.get("status") or {}
        if all(have.get(name) == value for name, value in status.items()):
            return obj
        meta = obj["metadata"]
        body = {"status": {**status, **stamp}}
        return self.patch(kind, meta["name"], body, meta.get("namespace"), sub="status")

    def apply(self, kind: Kind, body: Object) -> Object:
        """Create or update an object by server-side apply."""
        meta = body["metadata"]
        query = {"fieldManager": self.who, "force": "true"}
        return self._call("patch", kind, meta.get("namespace"), meta["name"], query=query, body=body, content=APPLY)

    def delete(self, kind: Kind, name: str, namespace: str | None = None, *, at_once: bool = False) -> None:
        """Delete an object and, in the background, what it owns; `at_once`: no kubelet ends it. It may be missing."""
        options = {"propagationPolicy": "Background", **({"gracePeriodSeconds": 0} if at_once else {})}
        try:
            self._call("delete", kind, namespace, name, body=options)
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
        method = {"create": "POST", "update": "PUT", "patch": "PATCH", "delete": "DELETE"}.get(verb, "GET")
        response = self._client.open(
            method,
            kind.path(namespace, name, sub),
            query=query,
            body=body,
            content_type=content or (MERGE_PATCH if verb == "patch" else JSON),
            timeout=(TIMEOUT[0], WATCH_SECONDS + TIMEOUT[1]) if verb == "watch" else None,
        )
        if response.status >= BAD_REQUEST:
            with closing(response):
                resource = "/".join(filter(None, [kind.plural, sub]))
                where = " ".join(filter(None, [resource, name, f"in {namespace}" if namespace else ""]))
                raise ApiError(self.who, verb, where, status_of(response.status, response.data))
        return response


class RenewedToken:
    """A token that is requested again before it expires; `ask` returns it and its life in seconds."""

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


def now() -> str:
    """Return the time in the form of the API."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def stated(obj: Object, desired: Mapping[str, tuple[str, str, str]]) -> list[Object]:
    """Return an object's conditions with those of `desired` (type -> status, reason, message) set, in a stable order.

    A condition keeps its time while its status is the same, so that an unchanged one is equal to itself.
    """
    have = {condition["type"]: condition for condition in (obj.get("status") or {}).get("conditions") or []}
    for kind, (status, reason, message) in desired.items():
        old = have.get(kind)
        if not old or (old["status"], old.get("reason"), old.get("message")) != (status, reason, message):
            since = old["lastTransitionTime"] if old and old["status"] == status else now()
            have[kind] = {
                "type": kind,
                "status": status,
                "reason": reason,
                "message": message,
                "lastTransitionTime": since,
            }
    return [have[kind] for kind in sorted(have)]
