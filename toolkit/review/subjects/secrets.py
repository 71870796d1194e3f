"""Secrets that come, go or change: that they do, and never to what."""

from collections.abc import Mapping

from core.apis.kinds import SECRET
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.model import CHANGED, Change, Op, Resource
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import names
from toolkit.review.titles import title

_SOME = "(some)"
"""The placeholder of unknown keys, where the whole secret is hidden."""
_FIELDS = ("data", "stringData")


def find(indexed: IndexedReview) -> Section | None:
    """Report which secrets change."""
    lines = [_line(change, indexed) for change in indexed.changed(SECRET)]
    return section("Secrets", lines)


def _line(change: Change, indexed: IndexedReview) -> Line:
    text = f"{title(change.resource)} is {indexed.participle(change)}"
    if change.before is None or change.after is None or change.op is Op.ADOPT:
        keys = names(sorted(_content(change.resource)))
        return Line(f"{text}, with {keys}" if keys else text)
    before, after = _content(change.before), _content(change.after)
    differences = []
    for words, changed in (
        ("new", after.keys() - before.keys()),
        ("gone", before.keys() - after.keys()),
        ("another value", {key for key in before.keys() & after.keys() if before[key] != after[key]}),
    ):
        if changed:
            differences.append(f"{words}: {names(sorted(changed))}")
    return Line(f"{text} ({'; '.join(differences)})" if differences else text)


def _content(resource: Resource) -> dict[str, bool | str]:
    """Return the keys of a secret; of their values only what distinguishes them."""
    digests: dict[str, bool | str] = {}
    for field in _FIELDS:
        values = resource.inputs.get(field)
        if isinstance(values, Mapping):
            digests.update((str(key), value if isinstance(value, str) else str(value)) for key, value in values.items())
        elif values == CHANGED:
            digests[_SOME] = CHANGED
    return digests
