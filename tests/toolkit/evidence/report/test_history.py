"""Rounds of a suite: the newest one against those before it."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from tests.toolkit.evidence import samples
from toolkit.evidence.records import Run
from toolkit.evidence.report.history import CRITERION, Course, changes, courses, judged, rows
from toolkit.evidence.report.page import page
from toolkit.evidence.verdict import Shape, Status

FIRST = datetime(2026, 9, 5, 2, 0, tzinfo=UTC)
STEADY = (0.99, 1.0, 1.0, 1.01, 1.002)
"""Factors of the times of five repeats."""


def a_round(week: int, *factors: float, release: str = "4.21", simulated: bool = True) -> Run:
    """Return a round of nccl-tests on two nodes."""
    shape = Shape(pods=2, gpus=8)
    tables = (samples.nccl_tests(shape, factor, f"{week}-{number}.log") for number, factor in enumerate(factors))
    return Run(
        time=FIRST + timedelta(weeks=week),
        stack="h100-roce",
        simulated=simulated,
        versions={"OpenShift": release},
        jobs=(samples.job("nccl", "nccl-all-reduce", shape, *tables),),
        verdicts=(),
    )


def slower(by: float, values: Sequence[float] = STEADY) -> list[float]:
    """Return the factors of repeats that are slower."""
    return [by * value for value in values]


def large(rounds: Sequence[Run]) -> Course:
    """Return the course of large messages."""
    return next(each for each in courses(rounds) if "MiB" in each.what)


def statuses(*rounds: Run) -> set[Status]:
    """Return how the figures of the newest round came out."""
    return {each.status for each in judged(courses(rounds))}


def test_a_median_within_the_spread_of_repeats_is_no_alert() -> None:
    """Repeats differ by 1 %, and so may medians."""
    assert statuses(a_round(0, *STEADY), a_round(1, *slower(1.005))) == {Status.PASS}
    assert statuses(a_round(0, *STEADY), a_round(1, *slower(0.8))) == {Status.PASS}


def test_one_slow_repeat_is_no_alert_and_a_slow_median_is() -> None:
    """The median of five hides one disturbed run, and not three."""
    before = a_round(0, *STEADY)
    assert statuses(before, a_round(1, 1, 1, 1, 1.5, 1.5)) == {Status.PASS}
    assert statuses(before, a_round(1, 1, 1, 1.5, 1.5, 1.5)) == {Status.FAIL}


def test_noise_is_what_repeats_before_differed_by() -> None:
    """3.5 x 1.4826 x the median absolute deviation, here 0.2 % of a repeat: a change of 5 % is none in noisy rounds."""
    noisy = (0.9, 0.95, 1.0, 1.05, 1.1)
    change = slower(1.05)
    assert large([a_round(0, *STEADY), a_round(1, *change)]).noise(1).share == pytest.approx(0.0104, abs=0.0001)
    assert statuses(a_round(0, *STEADY), a_round(1, *change)) == {Status.FAIL}
    assert statuses(a_round(0, *noisy), a_round(1, *slower(1.05, noisy))) == {Status.PASS}


def test_few_repeats_warn_by_an_assumed_noise() -> None:
    """Without five repeats nobody knows the noise: the alert is a warning, and says what it assumes."""
    found = judged(courses([a_round(0, 1.0), a_round(1, 1.2)]))
    assert {each.status for each in found} == {Status.WARN}
    assert all("assumed for 1 repeat" in each.limit for each in found)
    assert statuses(a_round(0, 1.0), a_round(1, 1.02)) == {Status.PASS}


def test_a_first_round_is_no_evidence() -> None:
    """There is nothing that it could be worse than."""
    (verdict, *_) = judged(courses([a_round(0, *STEADY)]))
    assert (verdict.criterion, verdict.status) == (CRITERION, Status.MISSING)
    assert "in the first round" in verdict.measured


def test_an_upgrade_that_costs_speed_is_named() -> None:
    """The alert says which version changed; later rounds have the new level, whatever was before."""
    before = [a_round(week, *STEADY) for week in range(3)]
    after = [a_round(week, *slower(1.1), release="4.22") for week in range(3, 6)]
    found = judged(courses([*before, after[0]]))
    assert {each.status for each in found} == {Status.FAIL}
    assert all("since then OpenShift 4.21 became 4.22" in each.measured for each in found)
    assert statuses(*before, *after) == {Status.PASS}
    assert statuses(*before, *after, a_round(6, *slower(1.2), release="4.22")) == {Status.FAIL}
    assert changes([*before, *after]) == {after[0].time: "OpenShift 4.21 became 4.22"}


def test_simulated_rounds_are_no_repeats_of_measured_ones() -> None:
    """They are left out of each other's history."""
    assert statuses(a_round(0, *STEADY), a_round(1, *slower(2), simulated=False)) == {Status.MISSING}


def test_rows_show_medians_and_the_last_difference() -> None:
    """The oldest of the shown rounds comes first."""
    first, *_ = rows(courses([a_round(0, *STEADY), a_round(1, *slower(1.1))]))
    assert first[0] == "adas/nccl"
    assert "→" in first[2]
    assert first[3:] == ("±1.0%", "-10.0%")


def test_the_page_draws_each_figure_over_time_with_the_versions() -> None:
    """A line marks the round after an upgrade; without rounds there is no section."""
    rounds = [a_round(0, *STEADY), a_round(1, *STEADY), a_round(2, *STEADY, release="4.22")]
    drawn = page(samples.undrawn(samples.good()), rounds=rounds)
    assert drawn.count("in 3 rounds: ") == len(courses(rounds))
    assert "OpenShift 4.21 → 4.22" in drawn
    assert "2026-09-19 02:00 UTC: OpenShift 4.21 became 4.22" in drawn
    assert 'id="history"' not in page(samples.undrawn(samples.good()))
