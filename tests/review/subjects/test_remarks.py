"""Remarks."""

from review.subjects import remarks
from tests.support.reviews import review, told


def test_remarks() -> None:
    """Prevents warnings that are lost on the way, and ones of several lines."""
    assert told(remarks.find, review(warnings=("provider: old\n  API",))) == ["provider: old API"]
    assert told(remarks.find, review()) == []
