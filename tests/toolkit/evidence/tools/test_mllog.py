"""MLPerf logs of three generations."""

import json

import pytest

from tests.support.mutated import invented, mutations, only, read_text
from tests.toolkit.evidence.tools.logs import MLPERF as MLP
from toolkit.evidence.tools.mllog import MlLog


def _event(key: str, value: object, at_ms: int, **metadata: object) -> str:
    # Format of mlperf_logging/mllog of mlcommons/logging.
    whole = {"namespace": "", "time_ms": at_ms, "event_type": "POINT_IN_TIME", "key": key, "value": value}
    return f":::MLLOG {json.dumps({**whole, 'metadata': {'file': 'train.py', 'lineno': 7, **metadata}})}\n"


MLLOG = "".join(
    [
        _event("submission_benchmark", "ssd", 1_000_000),
        _event("submission_org", "reference_implementation", 1_000_000),
        _event("global_batch_size", 192, 1_000_000),
        _event("seed", 42, 1_000_000),
        _event("run_start", None, 1_060_000),
        _event("eval_accuracy", 0.19, 1_900_000, epoch_num=40),
        _event("eval_accuracy", 0.2305, 2_400_000, epoch_num=50),
        _event("run_stop", None, 2_401_600, status="success"),
        _event("train_samples", 117266, 2_401_700),
    ]
)
# Form of v0.6, which the Supermicro reference ran: mlperf_compliance's `LOG_TEMPLATE`.
MLL = """:::MLL 1558767599.999 submission_benchmark: {"value": "maskrcnn", "metadata": {"lineno": 179, "file": "a.py"}}
:::MLL 1558767600.000 run_start: {"value": null, "metadata": {"file": "mybenchmark/file.py", "lineno": 42}}
:::MLL 1558780000.000 eval_accuracy: {"value": {"BBOX": 0.3773, "SEGM": 0.3392}, "metadata": {"epoch_num": 13}}
:::MLL 1558780048.800 run_stop: {"value": null, "metadata": {"status": "success"}}
"""


def test_todays_form_gives_the_minutes_to_the_target() -> None:
    """The time is from run_start to run_stop, without initialisation."""
    found = only(MlLog, MLLOG)
    assert (found.form, found.benchmark, found.status, found.complete) == ("MLLOG", "ssd", "success", True)
    assert found.minutes == pytest.approx(22.36)
    assert (found.global_batch_size, found.seed, found.run_start_line, found.run_stop_line) == (192, 42, 5, 8)
    assert [(one.epoch, one.quality) for one in found.evaluations] == [
        (40, {"accuracy": 0.19}),
        (50, {"accuracy": 0.2305}),
    ]
    assert found.submission == {"submission_org": "reference_implementation"}
    assert found.reached is True
    assert not found.unread


def test_the_form_of_v06_has_two_qualities_for_mask_rcnn() -> None:
    """Mask R-CNN has two qualities, and both are read."""
    found = only(MlLog, MLL)
    assert (found.form, found.benchmark, found.status) == ("MLL", "maskrcnn", "success")
    assert found.minutes == pytest.approx(207.48)
    assert [one.quality for one in found.evaluations] == [{"BBOX": 0.3773, "SEGM": 0.3392}]


def test_a_quality_in_quotes_is_one() -> None:
    """A quality in quotes is read; words and halves of numbers are none."""
    found = only(MlLog, MLLOG.replace("0.19,", '"20.298077",').replace("0.2305,", '"20.", "x": 0,'))
    assert [one.quality for one in found.evaluations] == [{"accuracy": 20.298077}]


def test_the_form_of_v05_is_read_with_its_target() -> None:
    """A run that stopped below its target has not reached it."""
    found = only(MlLog, MLP)
    assert (found.form, found.tool_version, found.benchmark, found.status) == ("MLP", "0.5.0", "maskrcnn", "success")
    assert found.target == {"BBOX": 0.377, "SEGM": 0.339}
    assert found.reached is True
    assert found.minutes == pytest.approx(217.2481, abs=1e-4)
    assert only(MlLog, MLP.replace("0.3452", "0.3302")).reached is False


def test_an_aborted_rank_makes_an_aborted_run() -> None:
    """A rank that aborts makes an aborted run; srun's task numbers are ranks."""
    ranks = [f" {rank}: {line}\n" for line in MLLOG.splitlines() for rank in range(2)]
    ranks = [line.replace('"success"', '"aborted"') if line.startswith(" 0:") else line for line in ranks]
    found = only(MlLog, "".join(ranks))
    assert (found.status, found.reached, len(found.evaluations)) == ("aborted", False, 4)
    assert {one.rank for one in found.evaluations} == {"0", "1"}
    assert found.minutes == pytest.approx(22.36)


def test_runs_of_several_seeds_are_distinguished() -> None:
    """Runs of several seeds are readings of their own."""
    found = read_text(MLLOG + MLLOG.replace('"value": 42', '"value": 43'))
    assert [one.seed for one in found if isinstance(one, MlLog)] == [42, 43]


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        (MLLOG[: MLLOG.index(_event("run_stop", None, 2_401_600, status="success"))], "no run_stop"),
        (MLLOG.replace(_event("run_start", None, 1_060_000), ""), "no run_start"),
        (MLLOG.replace("1060000", "9060000"), "run_stop is before run_start"),
    ],
)
def test_a_run_without_both_ends_has_no_time(text: str, missing: str) -> None:
    """A run without both ends has no time."""
    found = only(MlLog, text)
    assert (found.complete, found.incomplete, found.minutes) == (False, missing, None)
    assert found.reached is (None if missing == "no run_stop" else True)


def test_a_line_that_is_cut_or_mixed_is_reported() -> None:
    """A line that is cut or mixed is listed."""
    cut = _event("run_stop", None, 2_401_600)[:-20]
    found = only(MlLog, MLLOG + cut)
    assert [one.text for one in found.unread] == [cut.strip()]


def test_damage_never_raises_and_never_invents_a_quality() -> None:
    """Damage does not raise, and adds no quality."""
    for text in (MLLOG, MLL, MLP):
        for raw in mutations(text, 80):
            assert invented(raw, read_text(raw)) == []
