"""The API server's objects at this moment, for one decision.

Every decision reads again, from etcd: a binding that was deleted before a pod is created must not admit it. The six
reads took 11 ms with 300 writes a second beside them. Watches would save those, and be behind by an unknown time; lists
from the API server's watch cache took 100 ms. What has not changed since the last decision is not parsed again.
"""

import json
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from core.apis import kinds
from core.apis import names as openshift
from core.apis.kinds import Kind
from policies.scc import Namespace
from policies.scc.rbac import Rbac
from toolkit.simulator.admission.review import Facts
from toolkit.simulator.api import Api

ALLOCATED = (openshift.SCC_UID_RANGE, openshift.SCC_MCS)
PATIENCE = 10.0
"""Seconds that the plugin waits for what OpenShift allocates to a new namespace."""
POLL_SECONDS = 0.05
_OF_CLUSTER = (kinds.CLUSTER_ROLE, kinds.CLUSTER_ROLE_BINDING)
_OF_NAMESPACE = (kinds.ROLE, kinds.ROLE_BINDING)
_ITEMS = b'"items":'
_REVISION = re.compile(rb'"resourceVersion":"(\d+)"')
_EXACTLY = "resourceVersionMatch=Exact"


class Shared:
    """One reading for all callers that wait: a caller gets what was read after its call, never what was being read."""

    def __init__(self, read: Callable[[], Facts]) -> None:
        self._read = read
        self._reading = threading.Lock()
        self._counting = threading.Lock()
        self._begun = 0
        self._done: tuple[int, Facts] | None = None

    def facts(self) -> Facts:
        """Return what a reading that began after this call has found; passes on what `read` raises."""
        with self._counting:
            number = self._begun + 1
        with self._reading:
            if self._done is None or self._done[0] < number:
                with self._counting:
                    self._begun += 1
                self._done = (self._begun, self._read())
            return self._done[1]


class Reader:
    """Reads through `api`.

    A job's pods come together: sixteen at once took 75 ms each when each read for itself.
    """

    def __init__(self, api: Api) -> None:
        self._api = api
        self._pool = ThreadPoolExecutor(2 * len(_OF_CLUSTER), "lists of the whole cluster")
        self._last: dict[str, bytes] = {}
        self._sccs: tuple[bytes, list[Any]] = (b"", [])
        self._shared: dict[str, Shared] = {}
        self._rbac: dict[str, tuple[list[bytes], Rbac]] = {}

    def facts(self, namespace: str) -> Facts:
        """Return what counts for a pod of `namespace` now; raises OSError or SimulatorError when it cannot be read."""
        return self._shared.setdefault(namespace, Shared(partial(self._facts, namespace))).facts()

    def _facts(self, namespace: str) -> Facts:
        project = self._namespace(namespace)
        rbac, revision = self._all_rbac(namespace)
        return Facts(project, self._all_sccs(revision), rbac)

    def _namespace(self, name: str) -> Namespace:
        until = time.monotonic() + PATIENCE
        while True:
            metadata = json.loads(self._body(f"/api/v1/{kinds.NAMESPACE.plural}/{name}"))["metadata"]
            annotations = metadata.get("annotations") or {}
            if all(key in annotations for key in ALLOCATED) or time.monotonic() > until:
                return Namespace(name, annotations, metadata.get("labels") or {})
            time.sleep(POLL_SECONDS)

    def _all_sccs(self, revision: str) -> list[Any]:
        # Of custom resources only a list at a named revision comes from etcd, see the API server's flags.
        text, _ = self._list(kinds.SECURITY_CONTEXT_CONSTRAINTS, "", f"?resourceVersion={revision}&{_EXACTLY}")
        cached = self._sccs
        if cached[0] != text:
            cached = self._sccs = (text, json.loads(text))
        return cached[1]

    def _all_rbac(self, namespace: str) -> tuple[Rbac, str]:
        """Return the roles and bindings that count in a namespace, and a revision of etcd of now."""
        beside = [self._pool.submit(self._list, kind) for kind in _OF_CLUSTER]
        local = [self._list(kind, namespace) for kind in _OF_NAMESPACE]
        texts = [text for text, _ in (*(future.result() for future in beside), *local)]
        revision = local[-1][1]
        cached = self._rbac.get(namespace)
        if cached is None or cached[0] != texts:
            objects = [
                # The entries of a list do not say what they are.
                {**entry, "apiVersion": kind.api_version, "kind": kind.kind}
                for kind, text in zip((*_OF_CLUSTER, *_OF_NAMESPACE), texts, strict=True)
                for entry in json.loads(text)
            ]
            cached = self._rbac[namespace] = (texts, Rbac(objects))
        return cached[1], revision

    def _list(self, kind: Kind, namespace: str = "", query: str = "") -> tuple[bytes, str]:
        """Return the entries of a list as they come, without what is about the list, and its revision."""
        path = kind.path(namespace)
        text = self._body(path + query)
        first, last = text.index(_ITEMS) + len(_ITEMS), text.rindex(b"]") + 1
        revision = _REVISION.search(text[:first] + text[last:])
        # One copy of what is equal: all namespaces have the cluster's roles in common.
        items = self._last.get(path)
        if items is None or items != text[first:last]:
            items = self._last[path] = text[first:last]
        return items, revision[1].decode() if revision else ""

    def _body(self, path: str) -> bytes:
        try:
            return self._api.read(path)
        except OSError:  # a kept connection that the API server has closed; a second failure counts
            return self._api.read(path)
