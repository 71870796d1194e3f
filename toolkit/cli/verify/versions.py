"""Versions of a stack: what the settings request, and what the nodes report. Pure."""

from collections.abc import Iterable, Mapping

from stacks.resolved.versions import requested
from stacks.settings.platform import Settings
from toolkit.evidence.node_facts import NodeFact, NodeFacts
from toolkit.evidence.verdict import Job


def versions(settings: Settings, jobs: Iterable[Job]) -> Mapping[str, str]:
    """Return part of the stack -> version; what nodes report counts before what is requested."""
    rows = [row for job in jobs for reading in job.readings if isinstance(reading, NodeFacts) for row in reading.nodes]
    reported = {
        "GPU driver": _distinct_values(rows, "driver"),
        "kernel": _distinct_values(rows, "kernel"),
        "system": _distinct_values(rows, "os_image"),
        "kubelet": _distinct_values(rows, "kubelet"),
    }
    return {**requested(settings), **{part: version for part, version in reported.items() if version}}


def _distinct_values(rows: Iterable[NodeFact], field: str) -> str:
    """Return what nodes have, several where they differ."""
    return ", ".join(sorted({str(value) for row in rows if (value := getattr(row, field))}))
