"""Comparisons: the documents' own figures, recomputed."""

import pytest

from toolkit.evidence import reference
from toolkit.evidence.report.compared_figures import faster, spread


def test_the_paper_saves_44_percent_of_the_time_and_not_55() -> None:
    """44 % of the time are saved; the printed 55.7 % are what is left."""
    one, two = (item.figure for item in reference.ELAPSED)
    assert round(faster(two, one, "less"), 3) == 0.443
    assert round(two / one, 3) == 0.557


def test_the_spread_shows_one_bad_run_of_five() -> None:
    """One slow run of five shows in the spread, as a share of the median."""
    assert spread([740, 741, 738, 990, 742]) == pytest.approx(249 / 741)
    assert spread([740]) == 0


def test_more_is_better_for_rates_and_less_for_times() -> None:
    """More is better for rates, less for times."""
    assert faster(700, 740, "more") < 0 < faster(700, 740, "less")
    assert faster(740, 700, "less") < 0 < faster(740, 700, "more")
