"""Remarks."""

from review.subjects import warnings
from tests.support.reviews import reported, review


def test_remarks() -> None:
    """Warnings are listed, each on one line."""
    assert reported(warnings.find, review(warnings=("provider: old\n  API",))) == ["provider: old API"]
    assert reported(warnings.find, review()) == []
