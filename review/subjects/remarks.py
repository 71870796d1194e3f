"""What the engine, a plugin or the program remarks."""

from review.section import Line, Section, section
from review.words import said
from review.worlds import Worlds


def find(worlds: Worlds) -> Section | None:
    """Say it as it was said."""
    return section("Remarks of engine and program", [Line(said(text)) for text in worlds.review.warnings])
