"""The line that tells how much changes, and how much of it is protected or holds data."""

from collections import Counter

from review.holding import Holdings
from review.model import Change, Op, Resource, Review
from review.titles import ORDER, done
from review.words import count, enumerated, name, said
from review.worlds import Worlds

_COMMIT = 12
FAILED = 1_500
"""Characters of an error that are shown."""


def heading(review: Review) -> str:
    """Return the title of a review."""
    between = " to ".join(name(commit[:_COMMIT]) for commit in review.compared if commit)
    return f"{'Drift' if review.drift else 'Change'} of stack {name(review.stack)}" + (
        f", {between}" if between else ""
    )


def failure(review: Review) -> str:
    """Return why there is no whole answer; empty where there is."""
    return f"There is no whole answer: {said(review.failed, FAILED)}" if review.failed else ""


def unasked(review: Review) -> str:
    """Return what is not known because nobody asked the cluster; empty where somebody did."""
    if review.cluster_asked:
        return ""
    return (
        "The cluster was not asked: this compares what two commits declare. Not known: what the cluster holds and how "
        "it differs, which objects the update would replace where only the API server can say so, which jobs run, and "
        "whether the API server takes the objects."
    )


def counts(worlds: Worlds) -> str:
    """Return the summary."""
    review = worlds.review
    objects = [change for change in review.changed if change.resource.is_object]
    if not review.changed and review.failed:
        return "What changes is not known."
    if not review.changed and any(map(_less_kept, review.changes)):
        return "No object changes, but the protection of some does."
    if not review.changed:
        return "No drift: the cluster is as declared." if review.drift else "Nothing changes."
    if not objects:
        others = count(len(review.changed), "component or provider", "components or providers")
        return f"No object changes, only {others} of the program."
    number = Counter(change.op for change in objects)
    text = f"{count(len(objects), 'object')}: {_told(number, drift=review.drift)}."
    holdings = Holdings(worlds)
    protected: Counter[Op] = Counter()
    holding: Counter[Op] = Counter()
    for change in objects:
        resource = change.before or change.resource
        protected[change.op] += resource.protect
        holding[change.op] += bool(holdings.of(resource))
    for words, found in (("protected", protected), ("holding data or credentials", holding)):
        if told := _told(found, drift=review.drift):
            text += f" Of these {words}: {told}."
    if not any(number[op] for op in (Op.DELETE, Op.REPLACE)):
        text += " Nothing is deleted or replaced."
    return text


def _less_kept(change: Change) -> bool:
    """Say whether an object's protection changes, which the engine takes for no change."""
    before, after = change.before, change.after
    return bool(before and after) and _kept(before) != _kept(after)


def _kept(resource: Resource | None) -> tuple[bool, bool] | None:
    return (resource.protect, resource.retain_on_delete) if resource else None


def _told(number: Counter[Op], *, drift: bool) -> str:
    told = [f"{number[op]:,} {done(op, drift=drift)}" for op in ORDER if number[op]]
    return enumerated(told, len(ORDER))
