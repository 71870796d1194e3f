"""Comparisons: the documents' own figures, recomputed (E-31, E-32)."""

import pytest

from evidence import reference
from evidence.compare import Scaling, difference, faster, regressed, repeats, speed_up
from evidence.verdict import Shape


def _rate(pods: int, gpus: int) -> float:
    found = reference.rate("resnet50", "dgx1-v100-16gb", "infiniband", Shape(pods=pods, gpus=gpus))
    assert found is not None
    return found.images_per_s


def test_the_paper_saves_44_percent_of_the_time_and_not_55() -> None:
    """Prevents the printed 55.7 % from being taken for the reduction (E-31, R-5.2-6)."""
    one, two = (item.seconds for item in reference.ELAPSED)
    scaling = Scaling(before=one, after=two, factor=2, better="less")
    assert round(scaling.speed_up, 3) == 1.795
    assert round(scaling.efficiency, 3) == 0.897
    assert scaling.ideal == 664
    assert round(faster(two, one, "less"), 3) == 0.443
    assert round(two / one, 3) == 0.557


def test_single_gpu_pods_cost_a_sixth_and_scale_no_worse() -> None:
    """Prevents `slight` for 16.6 % and 15.4 %, and a scaling that is computed over the wrong pair (E-32)."""
    assert round(difference(_rate(8, 1), _rate(1, 8)), 3) == -0.166
    assert round(difference(_rate(16, 1), _rate(2, 8)), 3) == -0.154
    assert round(speed_up(_rate(1, 8), _rate(2, 8), "more"), 3) == 1.937
    assert round(speed_up(_rate(8, 1), _rate(16, 1), "more"), 3) == 1.966
    assert Scaling(before=_rate(1, 8), after=_rate(2, 8), factor=2, better="more").ideal == 14_192


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
    assert regressed([700.0] * 5, [740.0] * 5, "more")
    assert not regressed([700.0] * 5, [740.0] * 5, "less")
    assert not regressed([740.0] * 5, [700.0] * 5, "more")
    assert regressed([740.0] * 5, [700.0] * 5, "less")


def test_what_the_repeats_differ_by_is_no_regression() -> None:
    """Prevents an alarm at every run of a noisy cluster."""
    assert not regressed([690, 700, 735, 745, 705], [740, 720, 741, 760, 715], "more")
    assert regressed([690, 691, 692, 690, 691], [740, 741, 742, 740, 741], "more")
    assert not regressed([690], [700], "more", least_noise=0.02)
    assert regressed([680], [700], "more", least_noise=0.02)
