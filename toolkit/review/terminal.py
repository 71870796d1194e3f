"""A review for a terminal: the words of the comment, and every difference; of long texts, only how much differs."""

from collections.abc import Iterator

from toolkit.review import sentences, summary
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.model import Review
from toolkit.review.object_diff import difference, is_counted
from toolkit.review.section import Section
from toolkit.review.sentences import bare
from toolkit.review.subjects import sections
from toolkit.review.summary import described_changes, importance

_WHOLE = 10_000
"""Lines of an object's difference that are shown."""
_TEXTS = 20
"""Lines of a text in a field, such as a dashboard, that are shown."""


def write(review: Review, *, differences: bool = True) -> str:
    """Return the review as plain text, with a line end at its end; without the differences of single objects, too."""
    return "\n".join(map(bare, _lines(review, differences=differences))) + "\n"


def of_section(section: Section) -> str:
    """Return one section as plain text, without a line end."""
    return "\n".join(map(bare, [*_section(section)][1:]))


def _lines(review: Review, *, differences: bool) -> Iterator[str]:
    indexed = IndexedReview(review)
    yield summary.heading(review)
    failed, items = summary.failure(review)
    if failed:
        yield f"! {failed}"
    yield from (f"  - {item}" for item in items)
    yield from (f"! {caution}" for caution in summary.cautions(review))
    yield summary.counts(indexed)
    if limits := summary.not_queried(review):
        yield limits
    for section in sections(indexed):
        yield from _section(section)
    shortened = False
    for change in sorted(described_changes(review), key=importance) if differences else ():
        yield ""
        yield f"{sentences.title(change.resource)} {indexed.participle(change)}"
        lines = difference(change, _WHOLE, _TEXTS)
        shortened = shortened or any(map(is_counted, lines))
        yield from (f"  {line}" for line in lines)
    if shortened:
        yield ""
        yield f"Texts of more than {_TEXTS} lines are only counted here; -o FILE or --json FILE writes all of them."


def _section(section: Section) -> Iterator[str]:
    yield ""
    yield section.title
    for line in section.lines:
        yield f"  {'!' if line.alarm else '-'} {line.text}"
        yield from (f"      {detail}" for detail in line.details)
