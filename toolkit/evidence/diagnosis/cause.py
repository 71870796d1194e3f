"""What a known cause of failures is."""

from dataclasses import dataclass

TRANSPORT = frozenset({"transport-between-nodes", "gpudirect", "bus-bandwidth", "average-bus-bandwidth"})
LATENCY = frozenset({"small-message-latency"})
LINK = frozenset({"ib-write-bandwidth"})
HCAS = frozenset({"hcas-used", "ports-active", "ports-present", "fabric-consistent", "rdma-device-files"})
DATA = frozenset({"data-set", "data-staged", "data-slices"})
STARTED = frozenset({"ranks-initialised", "ranks-are-gpus"})
DIRECT = frozenset({"gpudirect", "bus-bandwidth", "average-bus-bandwidth"})
REGISTERED = TRANSPORT | LINK | STARTED | {"preflight-gpudirect"}
"""Criteria that causes explain together."""


@dataclass(frozen=True)
class Cause:
    """A known cause of failures."""

    name: str
    """In kebab case."""
    shows: str
    """Regular expression, case ignored, of a line that shows it: one that no parser knew, or in which a tool warns.

    Empty where only figures show it (`measured_causes`). Where one call has several causes, its error
    is part of the expression.
    """
    why: str
    """What happened."""
    remedy: str
    """What to do, with the setting that it concerns."""
    explains: frozenset[str] = frozenset()
    """Criteria whose failure it explains, besides that the job or its logs did not come to their end."""
    ends: bool = True
    """Whether a program that prints it cannot go on."""
    last_resort: bool = False
    """Whether it is shown only where nothing else explains a failure: a symptom, without its reason."""
    contradicted_by: frozenset[str] = frozenset()
    """Facts (`facts`) with which it cannot be the cause: then a later one that the line shows is."""
    source: str = ""
    """Where the line and its reason are from: a page without `https://`, or ids of docs/coverage/sources.md.

    Empty for a cause of this project's own, which its figures define.
    """

    def __str__(self) -> str:
        """Return cause and remedy as one text."""
        return f"{self.why}: {self.remedy}"
