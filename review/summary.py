"""The line that tells how much changes, and how much of it is protected or holds data."""

from collections import Counter

from review.holding import Holdings
from review.model import Op, Review
from review.titles import DONE, ORDER
from review.words import count, enumerated, name, said
from review.worlds import Worlds

_COMMIT = 12
FAILED = 1_500
"""Characters of an error that are shown."""


def heading(review: Review) -> str:
    """Return the title of a review."""
    between = " to ".join(name(commit[:_COMMIT]) for commit in review.compared if commit)
    return f"Change of stack {name(review.stack)}" + (f", {between}" if between else "")


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
    if not objects and not review.changed:
        return "Nothing changes."
    number = Counter(change.op for change in objects)
    text = enumerated([f"{number[op]:,} {DONE[op]}" for op in ORDER if number[op]], len(ORDER)) or "no object"
    text = f"{count(len(objects), 'object')}: {text}." if objects else "No object changes."
    holdings = Holdings(worlds)
    protected: Counter[Op] = Counter()
    holding: Counter[Op] = Counter()
    for change in objects:
        resource = change.before or change.resource
        protected[change.op] += resource.protect
        holding[change.op] += bool(holdings.of(resource))
    for words, found in (("protected", protected), ("holding data or credentials", holding)):
        told = [f"{found[op]:,} {DONE[op]}" for op in ORDER if found[op]]
        if told:
            text += f" Of these {words}: {enumerated(told, len(ORDER))}."
    if not any(number[op] for op in (Op.DELETE, Op.REPLACE)):
        text += " Nothing is deleted or replaced."
    others = len(review.changed) - len(objects)
    if others:
        text += f" Besides: {count(others, 'component or provider', 'components or providers')} of the program."
    return text
