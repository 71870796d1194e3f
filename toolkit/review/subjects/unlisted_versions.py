"""Versions outside a vendor's table: every review has them, whatever it changes, for as long as they are accepted."""

from toolkit.review.cluster_facts import AllowedFact
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import name, quoted


def find(indexed: IndexedReview) -> Section | None:
    """Report what the settings accept, with the reason that they give."""
    return section("Versions outside a vendor's table", [*map(_line, indexed.facts.allowed)], vital=True)


def _line(allowed: AllowedFact) -> Line:
    what = f"{name(allowed.what)} {name(allowed.value)}"
    if not allowed.table:
        return Line(f"{name('allow')} of {what}: nothing needs the entry; remove it")
    return Line(f"{what} is accepted: {quoted(allowed.reason)} ({quoted(allowed.table)})")
