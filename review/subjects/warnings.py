"""Warnings of the engine, a plugin or the program."""

from review.indexed_review import IndexedReview
from review.section import Line, Section, section
from review.sentences import quoted


def find(indexed: IndexedReview) -> Section | None:
    """Report the warnings as they are."""
    return section("Warnings of the engine and the program", [Line(quoted(text)) for text in indexed.review.warnings])
