"""What is read of a cluster to find hazards: each kind at most once, and no more than a sign needs."""

import builtins
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from core.apis.kinds import Kind
from policies.manifests.values import entries, read
from toolkit.cli.shared import metadata
from toolkit.cli.shared.cluster_client import Cluster, RefusedError

Object = Mapping[str, Any]
_LINES = 40
_PAGE = "50"
"""Objects of an answer: a NodeNetworkState has hundreds of kilobytes, and a request has 15 seconds."""


class UnreadError(Exception):
    """A kind that a sign needs and that could not be read; the text says why."""


class Live(Protocol):
    """Objects of a cluster."""

    def list(self, kind: Kind, namespace: str = "") -> Sequence[Object]:
        """Return all objects of a kind, or those of a namespace; none where the cluster does not serve it.

        Raises UnreadError where they may not be read.
        """

    def needed(self, kind: Kind, namespace: str = "") -> Sequence[Object]:
        """Return the same of a kind without which a sign is not seen; raise UnreadError where it is not served."""

    def rows(self, kind: Kind) -> Sequence[Object]:
        """Return the columns of all objects of a kind, as `needed` the objects."""

    def find(self, kind: Kind, namespace: str, name: str) -> Object | None:
        """Return one object, or None."""

    def last_lines(self, pod: Object, container: str) -> str:
        """Return what a container printed last before it ended; empty where that cannot be read."""


@dataclass(frozen=True)
class LiveCluster:
    """Objects of a cluster that answers, read when they are needed."""

    cluster: Cluster
    _lists: dict[str, Sequence[Object] | None] = field(default_factory=dict)

    def list(self, kind: Kind, namespace: str = "") -> Sequence[Object]:
        """Return all objects of a kind, or those of a namespace."""
        return self._read(kind, namespace) or ()

    def needed(self, kind: Kind, namespace: str = "") -> Sequence[Object]:
        """Return all objects of a kind, or those of a namespace."""
        return _served(kind, self._read(kind, namespace))

    def rows(self, kind: Kind) -> Sequence[Object]:
        """Return the columns of all objects of a kind."""
        try:
            return _served(kind, self.cluster.table(kind))
        except RefusedError as error:
            raise UnreadError(f"{kind.kind}: {error.reason}") from None

    def find(self, kind: Kind, namespace: str, name: str) -> Object | None:
        """Return one object, or None."""
        try:
            return self.cluster.read(kind, namespace, name)
        except RefusedError as error:
            raise UnreadError(f"{kind.kind} {name}: {error.reason}") from None

    def last_lines(self, pod: Object, container: str) -> str:
        """Return what a container printed last before it ended."""
        statuses = [*entries(pod, "status", "initContainerStatuses"), *entries(pod, "status", "containerStatuses")]
        ended = any(read(entry, "lastState", "terminated") for entry in statuses if entry.get("name") == container)
        again = {"previous": "true"} if ended else {}
        path = f"/api/v1/namespaces/{metadata.namespace(pod)}/pods/{metadata.name(pod)}/log"
        with tempfile.TemporaryDirectory(prefix="hpc-log-") as folder:
            file = Path(folder) / "log"
            try:
                query = {"container": container, "tailLines": str(_LINES)} | again
                return file.read_text(errors="replace") if self.cluster.download(path, file, **query) else ""
            except RefusedError:
                return ""

    def _read(self, kind: Kind, namespace: str) -> Sequence[Object] | None:
        path = kind.path(namespace)
        if path not in self._lists:
            try:
                self._lists[path] = self._paged(path)
            except RefusedError as error:
                raise UnreadError(f"{kind.kind}: {error.reason}") from None
        return self._lists[path]

    def _paged(self, path: str) -> Sequence[Object] | None:
        items: builtins.list[Object] = []
        more = ""
        while (answer := self.cluster.get(path, limit=_PAGE, **({"continue": more} if more else {}))) is not None:
            items += answer.get("items") or ()
            more = str(read(answer, "metadata", "continue") or "")
            if not more:
                return items
        return None


def _served(kind: Kind, objects: Sequence[Object] | None) -> Sequence[Object]:
    if objects is None:
        raise UnreadError(f"the cluster does not serve {kind.kind} of {kind.group}")
    return builtins.list(objects)
