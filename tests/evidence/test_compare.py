"""Comparisons: the documents' own figures, recomputed (E-31)."""

import pytest

from evidence import reference
from evidence.compare import faster, repeats


def test_the_paper_saves_44_percent_of_the_time_and_not_55() -> None:
    """Prevents the printed 55.7 % from being taken for the reduction (E-31, R-5.2-6)."""
    one, two = (item.seconds for item in reference.ELAPSED)
    assert round(faster(two, one, "less"), 3) == 0.443
    assert round(two / one, 3) == 0.557


def test_the_median_of_five_ignores_one_bad_run_and_the_spread_shows_it() -> None:
    """Prevents one slow start from making a result."""
    five = repeats([740, 741, 738, 990, 742])
    assert five.median == 741
    assert five.spread == pytest.approx(249 / 741)
    assert repeats([740]).spread == 0
    with pytest.raises(ValueError, match="values"):
        repeats([])


def test_more_is_better_for_rates_and_less_for_times() -> None:
    """Prevents a faster run from being told as a regression."""
    assert faster(700, 740, "more") < 0 < faster(700, 740, "less")
    assert faster(740, 700, "less") < 0 < faster(740, 700, "more")
