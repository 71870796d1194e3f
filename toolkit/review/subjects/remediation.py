"""Nodes that restart by themselves when they are lost: which, how many at the same time, and what changes of that."""

from collections.abc import Iterator
from typing import Any

from core.apis.kinds import NODE_HEALTH_CHECK
from policies.manifests.values import entries, read, text
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.model import Change, Op, Resource
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import name, title


def find(indexed: IndexedReview) -> Section | None:
    """Report what a NodeHealthCheck restarts from now on, or no longer."""
    lines = [line for change in indexed.changed(NODE_HEALTH_CHECK) for line in _lines(change)]
    return section("Lost nodes", lines, vital=True)


def _lines(change: Change) -> Iterator[Line]:
    subject = title(change.resource)
    if change.op is Op.DELETE or change.after is None:
        yield Line(f"{subject} is deleted: pods of a lost node stay Terminating until the node is back", alarm=True)
        return
    now, before = _words(change.after), _words(change.before) if change.before else None
    if now == before:
        return
    details = [*now, "its jobs lose their pods, and drivers are built or loaded again"]
    if before is not None:
        details += [f"before: {words}" for words in before if words not in now]
    verb = "restarts" if before is None else "now restarts"
    yield Line(f"{subject} {verb} a node that it takes for lost", tuple(details), alarm=True)


def _words(resource: Resource) -> tuple[str, ...]:
    """Return what makes a node lost, and the limit, as clauses."""
    signs = [
        f"{text(read(sign, 'type'))} {text(read(sign, 'status'))} for {text(read(sign, 'duration'))}"
        for sign in entries(resource.inputs, "spec", "unhealthyConditions")
    ]
    limits: dict[str, Any] = {
        words: read(resource.inputs, "spec", field)
        for words, field in (("healthy, at least", "minHealthy"), ("lost, at most", "maxUnhealthy"))
    }
    return (
        *(f"a node with {name(sign)}" for sign in signs),
        *(f"while nodes are {words}: {name(str(limit))}" for words, limit in limits.items() if limit is not None),
    )
