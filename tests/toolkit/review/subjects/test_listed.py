"""The list of subjects is complete: a module that it lacks is refused at import, with its file."""

import pytest

from toolkit.review.subjects import SUBJECTS, refuse_unlisted


def test_a_subject_that_no_review_shows_is_refused() -> None:
    """A module of the folder whose `find` is not in SUBJECTS fails at import."""
    with pytest.raises(TypeError, match=r"toolkit/review/subjects/warnings\.py is not in SUBJECTS.*add warnings\.find"):
        refuse_unlisted(["findings", "warnings"], [find for find in SUBJECTS if "warnings" not in find.__module__])
