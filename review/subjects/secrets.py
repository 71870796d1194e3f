"""Secrets that come, go or change: that they do, and never to what."""

from collections.abc import Mapping

from apis.kinds import SECRET
from review.model import CHANGED, Change, Op, Resource
from review.section import Line, Section, section
from review.titles import title
from review.words import names
from review.worlds import Worlds

_SOME = "(some)"
"""Stands for keys that are not known, as the whole of a secret is hidden."""
_FIELDS = ("data", "stringData")


def find(worlds: Worlds) -> Section | None:
    """Say which secrets change."""
    lines = [_line(change, worlds) for change in worlds.changed(SECRET)]
    return section("Secrets", lines)


def _line(change: Change, worlds: Worlds) -> Line:
    text = f"{title(change.resource)} is {worlds.done(change)}"
    if change.before is None or change.after is None or change.op is Op.ADOPT:
        keys = names(sorted(_content(change.resource)))
        return Line(f"{text}, with {keys}" if keys else text)
    before, after = _content(change.before), _content(change.after)
    told = []
    for words, found in (
        ("new", after.keys() - before.keys()),
        ("gone", before.keys() - after.keys()),
        ("another value", {key for key in before.keys() & after.keys() if before[key] != after[key]}),
    ):
        if found:
            told.append(f"{words}: {names(sorted(found))}")
    return Line(f"{text} ({'; '.join(told)})" if told else text)


def _content(resource: Resource) -> dict[str, bool | str]:
    """Return the keys of a secret; of their values only what tells one from another."""
    found: dict[str, bool | str] = {}
    for field in _FIELDS:
        values = resource.inputs.get(field)
        if isinstance(values, Mapping):
            found.update((str(key), value if isinstance(value, str) else str(value)) for key, value in values.items())
        elif values == CHANGED:
            found[_SOME] = CHANGED
    return found
