"""Warnings of the engine, a plugin or the program."""

from toolkit.review.indexed_review import IndexedReview
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import quoted


def find(indexed: IndexedReview) -> Section | None:
    """Report the warnings as they are, but for those about versions that a section of their own has."""
    unneeded = [
        f"allow: {deviation.what} {deviation.value} " for deviation in indexed.facts.allowed if not deviation.table
    ]
    shown = [text for text in indexed.review.warnings if not any(entry in text for entry in unneeded)]
    return section("Warnings of the engine and the program", [Line(quoted(text)) for text in shown])
