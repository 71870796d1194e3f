"""Versions of a cluster, from its ClusterVersion and its nodes."""

import re

from core.apis import kinds
from core.apis.names import CLUSTER_VERSION
from policies.manifests.values import read
from toolkit.cli.shared import metadata
from toolkit.cli.shared.hazards.live import Live

Version = tuple[int, ...]
_NUMBERS = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?")


def parsed(text: object) -> Version | None:
    """Return the numbers at the beginning of a version, e.g. of 4.21.9 or v1.34.2; None where there are none."""
    match = _NUMBERS.match(str(text or ""))
    return tuple(int(number) for number in match.groups() if number is not None) if match else None


def shown(version: Version) -> str:
    """Return a version as text."""
    return ".".join(map(str, version))


def of_cluster(live: Live) -> Version | None:
    """Return the version of OpenShift that runs, or that is being installed; None where nothing says it."""
    listed = (obj for obj in live.list(kinds.CLUSTER_VERSION) if metadata.name(obj) == CLUSTER_VERSION)
    return next((parsed(read(obj, "status", "desired", "version")) for obj in listed), None)


def of_kubernetes(live: Live) -> Version | None:
    """Return the newest version of Kubernetes among the nodes, which is not above that of the API server."""
    kubelets = (parsed(read(node, "status", "nodeInfo", "kubeletVersion")) for node in live.list(kinds.NODE))
    return max((version for version in kubelets if version), default=None)
