"""The last lines of a pod that fails."""

import tempfile
from pathlib import Path

from policies.manifests.values import read
from toolkit.cli.shared import metadata
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.errors import Problem
from toolkit.cli.up.waits.pods import statuses
from toolkit.cli.up.waits.verdict import Object

LINES = 20
_LONGEST = 400  # characters of a line


def last_lines(cluster: Cluster, pod: Object, container: str = "") -> str:
    """Return the last log lines of a pod's container, by default its first, or why there are none."""
    if container and _never_started(pod, container):
        return ""
    shown = container or str(read(pod, "spec", "containers", 0, "name") or "")
    where = f"pod {metadata.namespace(pod)}/{metadata.name(pod)}, container {shown}"
    path = f"/api/v1/namespaces/{metadata.namespace(pod)}/pods/{metadata.name(pod)}/log"
    query = {"container": shown, "tailLines": str(LINES)} | ({"previous": "true"} if _again(pod, shown) else {})
    try:
        text = _read(cluster, path, query)
    except Problem as problem:
        return f"the log of {where} could not be read: {str(problem).splitlines()[0]}"
    lines = [line[:_LONGEST] for line in text.splitlines() if line.strip()][-LINES:]
    return "\n".join([f"last log lines of {where}:", *(f"  {line}" for line in lines)]) if lines else ""


def _read(cluster: Cluster, path: str, query: dict[str, str]) -> str:
    with tempfile.TemporaryDirectory(prefix="hpc-log-") as folder:
        file = Path(folder) / "log"
        return file.read_text(errors="replace") if cluster.download(path, file, **query) else ""


def _never_started(pod: Object, container: str) -> bool:
    """Whether a container has no log, as where its image is not there."""
    status = _status(pod, container)
    return bool(read(status, "state", "waiting")) and not read(status, "lastState", "terminated")


def _status(pod: Object, container: str) -> Object:
    return next((status for status in statuses(pod) if status.get("name") == container), {})


def _again(pod: Object, container: str) -> bool:
    """Whether a container that has ended runs again: what it printed at its end is in its previous log."""
    status = _status(pod, container)
    return bool(read(status, "state", "running") and read(status, "lastState", "terminated"))
