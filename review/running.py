"""Whether a job was still at work when the cluster, or the state, last told of it."""

from typing import Any

from policies.values import read
from review.model import Resource

_ENDS = frozenset({"Complete", "Succeeded", "Failed"})


def finished(resource: Resource) -> bool | None:
    """Say whether a job has ended; None where nothing tells."""
    status: Any = read(resource.live, "status")
    if not isinstance(status, dict) or not status:
        return None
    conditions = status.get("conditions")
    return any(
        read(condition, "type") in _ENDS and str(read(condition, "status")) == "True"
        for condition in (conditions if isinstance(conditions, list) else ())
    )
