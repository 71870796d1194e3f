"""APIs that a coming version of Kubernetes removes and that something still calls.

The counts are tens of megabytes on a large cluster, so their columns are read first, and then those that matter.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from core.apis import kinds
from policies.manifests.values import entries, read
from stacks.settings.platform import Settings
from toolkit.cli.shared.hazards import versions
from toolkit.cli.shared.hazards.hazard import Hazard
from toolkit.cli.shared.hazards.live import Live
from toolkit.review.sentences import enumerated, quoted

Object = Mapping[str, Any]
_NAME, _REMOVED, _REQUESTS = "Name", "RemovedInRelease", "RequestsInLast24h"
"""Columns of the definition (openshift/api, apiserver/v1)."""
_AHEAD = 2
"""Minor versions of Kubernetes that an update from one EUS release of OpenShift to the next passes."""
_EVERYTHING = frozenset(
    {
        "system:serviceaccount:kube-system:generic-garbage-collector",
        "system:serviceaccount:kube-system:namespace-controller",
        "system:kube-controller-manager",
        "system:cluster-policy-controller",
    }
)
"""Users that call every API there is."""
_SOURCE = "Red Hat, updating clusters: evaluating a cluster for removed APIs"


def hazards(_: Settings, live: Live) -> Iterator[Hazard]:
    """Yield each API that is gone within the next two minor versions, with who has called it in the last 24 hours."""
    if versions.of_cluster(live) is None:
        return  # no OpenShift 4
    now = versions.of_kubernetes(live)
    for row in live.rows(kinds.API_REQUEST_COUNT):
        removed, name = versions.parsed(row.get(_REMOVED)), str(row.get(_NAME))
        if removed is None or not row.get(_REQUESTS) or not _soon(removed, now):
            continue
        count = live.find(kinds.API_REQUEST_COUNT, "", name) or {}
        if callers := _callers(count):
            shown = enumerated([f"{quoted(who, 120)} ({number})" for who, number in callers.most_common()], 4)
            cause = f"Kubernetes {versions.shown(removed)} removes it; in the last 24 hours it was called by {shown}"
            remedy = "Update these callers to a version of the API that stays, before the update."
            yield Hazard("api-removed", f"APIRequestCount {name}", cause, remedy, _SOURCE)


def _soon(removed: versions.Version, now: versions.Version | None) -> bool:
    return now is None or removed[0] != now[0] or removed[1] <= now[1] + _AHEAD


def _callers(count: Object) -> Counter[str]:
    """Return users with their programs and requests, without those that call everything."""
    callers: Counter[str] = Counter()
    for hour in entries(count, "status", "last24h"):
        for node in entries(hour, "byNode"):
            for user in entries(node, "byUser"):
                if (name := str(read(user, "username") or "")) not in _EVERYTHING:
                    agent = str(read(user, "userAgent") or "").split(" ")[0]
                    callers[f"{name}, {agent}" if agent else name] += int(read(user, "requestCount") or 0)
    return callers
