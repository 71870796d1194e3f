"""What changed between runs, beyond what repeats differ by, and the documents' own figures recomputed."""

import math
from collections.abc import Sequence

import pytest

from tests.toolkit.evidence import samples
from toolkit.evidence import reference
from toolkit.evidence.model import NodeFacts
from toolkit.evidence.records import Kept, Run
from toolkit.evidence.reference import ALL_REDUCE
from toolkit.evidence.report.changes import as_text, assumptions
from toolkit.evidence.report.compared_figures import BANDS, OTHER_NOISE, faster, spread
from toolkit.evidence.report.comparison import NotComparableError, compare
from toolkit.evidence.verdict import Ended, Job, Request, Shape, Status


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


def earlier(*runs: Run) -> Sequence[Kept]:
    """Return runs with numbers."""
    return [Kept(number, run) for number, run in enumerate(runs, 1)]


def repeated(run: Run, factors: Sequence[float]) -> Run:
    """Return a run with one job only, whose table is repeated with these factors of time."""
    shape = Shape(pods=2, gpus=8)
    name = f"{run.time:%H%M}.log"
    tables = [samples.nccl_tests(shape, factor, name) for factor in factors]
    return run.model_copy(update={"jobs": (samples.job("nccl", "nccl-all-reduce", shape, *tables),)})


def test_the_same_run_has_no_regressions() -> None:
    """The same run has no regressions, and every figure of every job is compared."""
    found = compare(samples.good(1), earlier(samples.good()))
    assert (found.regressions, found.status_changes, found.notes) == (0, (), ())
    assert len(found.changes) == 3 * len(BANDS) + 2
    assert {as_text(one)[-1] for one in found.changes} == {"within the noise"}


def test_slower_is_a_regression_and_faster_is_none() -> None:
    """A slower fabric is a regression, and a faster one an improvement."""
    slower = compare(samples.good(1, slower=1.2, rate=12_000), earlier(samples.good()))
    assert slower.regressions == len(slower.changes) == 11
    faster = compare(samples.good(1, slower=0.8, rate=15_000), earlier(samples.good()))
    assert faster.regressions == 0
    assert {as_text(one)[-1] for one in faster.changes} == {"improvement"}
    by_what = {one.what: one for one in slower.changes if "a2d2" not in one.job}
    assert by_what["training"].worse == pytest.approx(1700 / 13_700)
    assert by_what["all_reduce, mean time of 8\u00a0B to 16\u00a0KiB"].worse == pytest.approx(0.2, abs=0.001)


def test_within_assumed_noise_nothing_regressed() -> None:
    """A difference within the assumed noise is not a regression."""
    found = compare(samples.good(1, slower=1.019, rate=13_500), earlier(samples.good()))
    assert found.regressions == 0
    said = " ".join(assumptions(found))
    assert "fewer than 5 repeats" in said
    assert "the paper's tables" in said
    assert "the sum of its ranks" in said


def test_the_assumed_noise_covers_the_tables_of_the_paper() -> None:
    """The assumed noise is at least twice what the halves of the Redpaper's tables differ by."""
    for band in BANDS:
        apart = 0.0
        for run in ALL_REDUCE:
            rows = [row for row in run.rows if band.first <= row.bytes <= band.last]
            ratio = 1.0
            for row in rows:
                ratio *= (row.out_of_place.time_us / row.in_place.time_us) ** (1 / len(rows))
            apart = max(apart, abs(ratio - 1))
        assert 2 * apart == pytest.approx(band.noise, rel=0.02), band


def test_five_repeats_have_a_noise_of_their_own() -> None:
    """Five repeats have a noise of their own: a steady fabric shows 2 %, an unsteady one hides 5 %."""
    steady = repeated(samples.good(), [1, 1.001, 0.999, 1, 1.002])
    now = repeated(samples.good(1), [1.02, 1.021, 1.019, 1.02, 1.02])
    found = compare(now, earlier(steady))
    assert found.regressions == len(BANDS)
    assert all(one.assumed is None and one.repeats == 5 for one in found.changes)
    assert assumptions(found) == ()
    unsteady = repeated(samples.good(), [1, 1.3, 0.9, 1, 1.1])
    assert compare(repeated(samples.good(1), [1.05] * 5), earlier(unsteady)).regressions == 0


def test_repeats_of_several_runs_count_together() -> None:
    """Repeats of several runs are compared by their median."""
    runs = [samples.good(minute, slower) for minute, slower in enumerate((0.80, 1, 1, 1, 1))]
    found = compare(samples.good(9, 1.02), earlier(*runs))
    assert found.regressions == 0
    assert found.changes[0].before == pytest.approx(41, abs=1)
    assert "the median of 5 runs (1, 2, 3, 4, 5)" in found.name


def test_the_same_logs_are_no_repeats() -> None:
    """Logs that were judged several times count once."""
    again = [samples.good().model_copy(update={"time": samples.good(minute).time}) for minute in range(5)]
    found = compare(samples.good(9, 1.015), earlier(*again))
    assert found.regressions == 0
    assert all(one.assumed for one in found.changes)
    same = compare(again[4], earlier(again[0]))
    assert same.changes == ()
    assert same.notes[0].startswith("The same logs as before, so nothing was measured again: adas/nccl-test-01x08, ")


def test_rounding_is_no_regression() -> None:
    """A difference in the last printed digit is not a regression."""
    before = repeated(samples.good(), [1] * 5)
    assert compare(repeated(samples.good(1), [1.004] * 5), earlier(before)).regressions == 0
    assert compare(repeated(samples.good(1), [1.007] * 5), earlier(before)).regressions == len(BANDS)


def test_the_noise_of_few_repeats_is_no_less_than_assumed() -> None:
    """The noise of two repeats is not less than the assumed one."""
    found = compare(repeated(samples.good(1), [1.025, 1.025]), earlier(repeated(samples.good(), [1, 1])))
    assert found.regressions == 0
    wide = compare(repeated(samples.good(1), [1.15] * 2), earlier(repeated(samples.good(), [0.7, 1.3])))
    assert wide.regressions == 0, "what repeats differ by is noise, however few there are"


def test_lost_passes_are_regressions() -> None:
    """A criterion that no longer passes, or is no longer judged, is a regression."""
    before, after = samples.good(), samples.good(1)
    lost = after.verdicts[2].model_copy(update={"status": Status.FAIL})
    dropped = after.model_copy(update={"verdicts": (*after.verdicts[:2], lost, *after.verdicts[3:5])})
    found = compare(dropped, earlier(before))
    assert [(one.criterion, one.after) for one in found.status_changes] == [
        ("bus-bandwidth", Status.FAIL),
        ("images-per-second", Status.MISSING),
    ]
    assert found.regressions == 2
    assert compare(before, earlier(dropped)).regressions == 0, "a mended criterion is not a regression"


def test_jobs_that_were_asked_otherwise_are_not_compared() -> None:
    """Jobs with other layouts are not compared."""
    run = samples.good(1)
    other = run.jobs[2].model_copy(
        update={"request": run.jobs[2].request.model_copy(update={"shape": Shape(pods=4, gpus=4)})}
    )
    found = compare(run.model_copy(update={"jobs": (*run.jobs[:2], other)}), earlier(samples.good()))
    assert (
        "adas/nccl-test-02x08 ran with other settings, so its figures are not compared: layout 02x08 became 04x04"
        in found.notes
    )
    assert "adas/tf2-resnet50-02x08x02 is missing now" in found.notes
    assert {one.job for one in found.changes} == {"adas/nccl-test-01x08"}
    assert "adas/nccl-test-16x01 is new" in compare(samples.good(), earlier(run.model_copy(update={"jobs": ()}))).notes


def test_simulated_runs_are_not_compared_with_measured_ones() -> None:
    """A simulated run is not compared with a measured one."""
    measured = samples.good().model_copy(update={"simulated": False})
    with pytest.raises(NotComparableError, match="run 1 was measured and this one simulated"):
        compare(samples.good(1), earlier(measured))
    with pytest.raises(NotComparableError, match="no earlier run"):
        compare(samples.good(), [])


def test_only_sizes_of_both_are_compared() -> None:
    """Means are taken over the sizes of both runs."""
    run = samples.good(1)
    table = samples.nccl_tests(Shape(pods=2, gpus=8))
    short = table.model_copy(update={"rows": table.rows[3:9]})
    job = run.jobs[2].model_copy(update={"readings": (short,)})
    found = compare(run.model_copy(update={"jobs": (job,)}), earlier(samples.good()))
    assert [(one.what, as_text(one)[-1]) for one in found.changes] == [
        ("all_reduce, mean time of 64\u00a0B to 2\u00a0KiB", "within the noise")
    ]
    assert BANDS[0].noise > OTHER_NOISE


def test_figures_that_are_none_do_no_harm() -> None:
    """0, inf or nan in a log, or a job without time, do not break a comparison."""
    stopped = compare(samples.good(1, rate=0), earlier(samples.good()))
    assert [one.what for one in stopped.changes if one.regressed] == ["training"]
    assert compare(samples.good(1), earlier(samples.good(rate=0))).regressions == 0
    for rate in (math.inf, math.nan):
        assert compare(samples.good(1, rate=rate), earlier(samples.good())).regressions == 0
        assert compare(samples.good(1), earlier(samples.good(rate=rate))).regressions == 0


def test_what_is_no_measurement_is_not_reported_to_be_the_same() -> None:
    """Nodes, which are not a measurement, are not listed as measured again."""
    before, after = samples.good(), samples.good(1, 1.01)
    nodes = Job(
        request=Request(job="nodes"),
        ended=Ended.SUCCEEDED,
        readings=(NodeFacts(file="nodes", tool="node-facts", complete=True, first_line=1, last_line=1, nodes=()),),
    )
    with_nodes = [run.model_copy(update={"jobs": (nodes, *run.jobs)}) for run in (before, after)]
    found = compare(with_nodes[1], earlier(with_nodes[0]))
    assert not any("nodes" in note for note in found.notes)
    assert found.changes == compare(after, earlier(before)).changes


def test_another_fabric_or_other_hcas_are_asked_otherwise() -> None:
    """Another fabric, or other HCAs, make jobs that are not compared."""
    run = samples.good(1, 2)
    job = run.jobs[2]
    for update, said in (
        ({"fabric": "roce"}, "fabric infiniband became roce"),
        ({"devices": ("mlx5_0",)}, "became mlx5_0"),
    ):
        moved = job.model_copy(update={"request": job.request.model_copy(update=update)})
        found = compare(run.model_copy(update={"jobs": (moved,)}), earlier(samples.good()))
        assert (found.changes, found.regressions) == ((), 0)
        assert found.notes[0].endswith(said)
