"""The summary: how much changes, how much of it is protected or holds data, and which changes matter most."""

from collections import Counter
from collections.abc import Iterator

from core.apis import kinds
from core.wording import plural
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.model import Change, Ending, Op, Resource, Review
from toolkit.review.sentences import ORDER, enumerated, name, participle, quoted, title
from toolkit.review.stateful_objects import StatefulObjects

FAILED = 1_500
"""Characters of an error that are shown."""
_ENDING = 3
"""Objects being deleted, or to be deleted, that are named."""
_RANKS = {Op.REPLACE: 0, Op.UPDATE: 1, Op.DELETE: 2, Op.FORGET: 3, Op.ADOPT: 4, Op.CREATE: 5, Op.SAME: 6}
_SECURITY = (
    kinds.SECURITY_CONTEXT_CONSTRAINTS,
    kinds.ROLE,
    kinds.CLUSTER_ROLE,
    kinds.ROLE_BINDING,
    kinds.CLUSTER_ROLE_BINDING,
    kinds.NETWORK_POLICY,
)
_STORAGE = (kinds.PERSISTENT_VOLUME, kinds.PERSISTENT_VOLUME_CLAIM, kinds.STORAGE_CLASS, kinds.NAMESPACE)
_PLATFORM = (kinds.MACHINE_CONFIG, kinds.SUBSCRIPTION)
_RANKED = {kind.kind: rank for rank, group in enumerate((_SECURITY, _STORAGE, _PLATFORM)) for kind in group}


def heading(review: Review) -> str:
    """Return the title of a review."""
    between = " to ".join(name(commit[:12]) for commit in review.compared if commit)
    return f"{'Drift' if review.drift else 'Change'} of stack {name(review.stack)}" + (
        f", {between}" if between else ""
    )


def failure(review: Review) -> tuple[str, tuple[str, ...]]:
    """Return why there is no whole answer: a sentence, and its items where there are several reasons; else nothing.

    Items are the indented lines of an error, as those of settings, and what follows them.
    """
    lines = review.failed.splitlines()
    first = next((index for index, line in enumerate(lines) if line.startswith("  ")), len(lines))
    if not review.failed or not first:
        return (f"The result is incomplete: {quoted(_sentences(lines), FAILED)}" if review.failed else "", ())
    items = list(dict.fromkeys(quoted(line, 300) for line in lines[first:] if line.strip()))
    shown, room = [], FAILED
    for item in items:
        room -= len(item)
        if room < 0:
            break
        shown.append(item)
    if rest := len(items) - len(shown):
        shown.append(f"… {rest:,} more")
    return f"The result is incomplete: {quoted(_sentences(lines[:first]), FAILED // 2)}", (*shown,)


def _sentences(lines: list[str]) -> str:
    """Join lines of which each may be a sentence of its own, as a remedy is."""
    text = ""
    for line in filter(None, map(str.strip, lines)):
        ends = not text or text[-1] in ".:;,!?" or not (line[0].isupper() or line[0] == "`")
        text += f"{'' if ends else '.'}{' ' if text else ''}{line}"
    return text


def cautions(review: Review) -> Iterator[str]:
    """Yield what the reader must know first."""
    if review.unanswered:
        reason = quoted(_sentences(review.unanswered.splitlines())).rstrip(".")
        yield (
            f"The cluster was not queried: {reason}. This is from the state of the last update. Unknown: what the "
            "cluster holds now, whether it accepts the objects, and what it would replace."
        )
    yield from review.cautions
    if review.leftovers:
        left = enumerated([title(resource) for resource in review.leftovers], _ENDING)
        yield f"An interrupted replacement left what the next update deletes: {left}."
    for ending in review.ending[:_ENDING]:
        yield f"{name(ending.kind, 60)} {name(ending.path)} is being deleted{_finalizers(ending)}."
    if rest := len(review.ending[_ENDING:]):
        yield f"{plural(rest, 'more object')} of the stack {'is' if rest == 1 else 'are'} being deleted."
    yield from (f"Hazard: {hazard}" for hazard in review.hazards)


def _finalizers(ending: Ending) -> str:
    if not ending.finalizers:
        return ""
    finalizers = enumerated([name(finalizer, 60) for finalizer in ending.finalizers], 3)
    return f"; it waits for {'finalizer' if len(ending.finalizers) == 1 else 'finalizers'} {finalizers}"


def not_queried(review: Review) -> str:
    """Return what is not known because two commits are compared; empty where the cluster was to be queried."""
    if review.cluster_queried or review.unanswered:
        return ""
    return (
        "The cluster was not queried: this compares what two commits declare. Unknown: what the cluster holds and how "
        "it differs, which objects the update would replace where the API server alone decides, which jobs run, and "
        "whether the API server accepts the objects."
    )


def counts(indexed: IndexedReview) -> str:
    """Return the summary."""
    review = indexed.review
    objects = [change for change in review.changed if change.resource.is_object]
    if not objects and review.failed:
        return f"What {'drifted' if review.drift else 'changes'} could not be determined."
    if not review.changed and any(map(_protection_changes, review.changes)):
        return "No object changes, but the protection of some does."
    if not review.changed:
        return _unchanged(review)
    if not objects:
        others = plural(len(review.changed), "component or provider", "components or providers")
        return f"No object changes, only {others} of the program."
    number = Counter(change.op for change in objects)
    text = f"{plural(len(objects), 'object')}: {_numbers(number, drift=review.drift)}."
    holdings = StatefulObjects(indexed)
    protected: Counter[Op] = Counter()
    holding: Counter[Op] = Counter()
    for change in objects:
        resource = change.before or change.resource
        protected[change.op] += resource.protect
        holding[change.op] += bool(holdings.of(resource))
    for words, numbers in (("protected", protected), ("holding data or credentials", holding)):
        if shown := _numbers(numbers, drift=review.drift):
            text += f" Of these {words}: {shown}."
    if not any(number[op] for op in (Op.DELETE, Op.REPLACE)):
        text += " Nothing is deleted or replaced."
    return text


def counted(number: Counter[Op]) -> str:
    """Return what became of the objects of a stack: `objects on the cluster: 2 created and 51 unchanged`."""
    parts = [f"{number[op]:,} {participle(op)}" for op in (*ORDER, Op.SAME) if number[op]]
    return f"objects on the cluster: {enumerated(parts, len(parts)) or 'none'}"


def _unchanged(review: Review) -> str:
    if not review.drift:
        return "Nothing else changes." if review.leftovers else "Nothing changes."
    if review.unsettled:
        return (
            "Nothing that the state records has drifted. What the update did beyond that could not be determined until "
            "it is completed."
        )
    if review.ending:
        return "Otherwise the cluster is as the last update left it."
    return "No drift: the cluster is as the last update left it."


def _protection_changes(change: Change) -> bool:
    """Return whether an object's protection changes, which the engine takes for no change."""
    before, after = change.before, change.after
    return bool(before and after) and _protection(before) != _protection(after)


def _protection(resource: Resource | None) -> tuple[bool, bool] | None:
    return (resource.protect, resource.retain_on_delete) if resource else None


def _numbers(number: Counter[Op], *, drift: bool) -> str:
    shown = [f"{number[op]:,} {participle(op, drift=drift)}" for op in ORDER if number[op]]
    return enumerated(shown, len(ORDER))


def importance(change: Change) -> tuple[bool, int, int, str]:
    """Return the sort key of differences, the most important first: by operation, kind and URN."""
    resource = change.resource
    return (
        not resource.is_object or resource.is_patch,
        _RANKS[change.op],
        _RANKED.get(resource.kind, len(_RANKED)),
        resource.urn,
    )


def described_changes(review: Review) -> list[Change]:
    """Return the changes whose differences are shown: components only repeat their objects."""
    return [change for change in review.changed if not change.resource.type.startswith("hpc:")]
