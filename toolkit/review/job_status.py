"""Whether a job had finished when the cluster, or the state, was last read."""

from collections.abc import Iterable

from policies.manifests.values import entries, mapping, read
from toolkit.review.model import Resource

_ENDS = frozenset({"Complete", "Succeeded", "Failed"})


def finished(resource: Resource) -> bool | None:
    """Return whether a job has finished; None where that is unknown."""
    if not mapping(resource.live, "status"):
        return None
    return any(
        read(condition, "type") in _ENDS and str(read(condition, "status")) == "True"
        for condition in entries(resource.live, "status", "conditions")
    )


def source(resources: Iterable[Resource]) -> str:
    """Return where the status of jobs is from, as a part of a sentence; empty where the cluster was queried."""
    return "" if all(resource.queried for resource in resources) else " according to the stack's state"
