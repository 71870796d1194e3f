"""Goodput of trainings in verdicts and in a report."""

import io
import json

import pytest

from core.goodput import GoodputLines
from toolkit.cli.verify.verdict_tables import json_data
from toolkit.evidence.criteria.goodput import CRITERIA
from toolkit.evidence.goodput.log import read_stream
from toolkit.evidence.goodput.reading import Goodput, duration, of_reads
from toolkit.evidence.judge import evaluate
from toolkit.evidence.report.compared_figures import figures
from toolkit.evidence.report.goodput_section import goodput
from toolkit.evidence.report.links import headline
from toolkit.evidence.verdict import Ended, Job, Request, Status, Verdict

LINES = GoodputLines(step=r"step (\d+)", started="started", resumed=r"resumed at (\d+)")


def _log() -> str:
    """Return a log of 1,000 steps of a second, with a failure after 600, noticed after 60 s, and 100 steps lost."""
    rows = [(0, "started"), *((10 + step, f"step {step}") for step in range(1, 601))]
    rows += [(670, "Sending process 7 closing signal SIGTERM"), (700, "started"), (705, "resumed at 500")]
    rows += [(205 + step, f"step {step}") for step in range(501, 1001)]
    return "".join(f"2026-03-01T10:{second // 60:02d}:{second % 60:02d}.0Z {text}\n" for second, text in rows)


def _job(lines: GoodputLines = LINES, log: str | None = None) -> Job:
    reading = of_reads({"log": read_stream(io.BytesIO((log or _log()).encode()), lines)})
    return Job(request=Request(job="adas/train", goodput=lines), ended=Ended.SUCCEEDED, readings=(reading,))


def _verdict(job: Job) -> Verdict:
    verdict = evaluate(CRITERIA[0], job)
    assert verdict is not None
    return verdict


def test_the_verdict_has_both_ratios_and_what_was_lost() -> None:
    """Of 1205 s 1000 trained: 60 s until the failure was noticed, 35 s to start again, 100 s done again, 10 s start."""
    verdict = _verdict(_job())
    assert verdict.status is Status.WARN
    assert verdict.measured == (
        "83.0% of 20.1 min, 88.0% without waiting for nodes; lost: redone 1.67 min, detection 1 min, restart 35 s, "
        "start 10 s; stopped at step 600: noticed after 1 min, trains again after 1.6 min, 100 steps lost"
    )


@pytest.mark.parametrize(("least", "status"), [(0.82, Status.PASS), (0.84, Status.FAIL)])
def test_a_limit_is_of_all_of_the_time(least: float, status: Status) -> None:
    """The setting decides, and not what is worth a look."""
    verdict = _verdict(_job(LINES.model_copy(update={"at_least": least})))
    assert (verdict.status, verdict.limit) == (status, f"goodput >= {least:.1%}")


def test_a_simulation_is_never_a_pass_and_never_missing() -> None:
    """There programs may print no steps, and their times are not those of a machine."""
    for log, measured in ((None, "simulated: 83.0% of"), ("2026-03-01T10:00:00Z other\n", "not judged: simulated")):
        job = _job(log=log)
        (reading,) = job.readings
        verdict = _verdict(job.model_copy(update={"readings": (reading.model_copy(update={"simulated": True}),)}))
        assert verdict.status is Status.WARN
        assert verdict.measured.startswith(measured)


def test_json_has_the_figures() -> None:
    """Programs that read verdicts have the seconds by cause and the interruptions, and not the points of the plot."""
    job = _job()
    shown = json.loads(json.dumps(json_data([job], [_verdict(job)])))
    figures = shown["jobs"][0]["measured_goodput"]
    assert figures["seconds"]["detection"] == 60
    assert (figures["interruptions"][0]["lost"], figures["steps"], "course" in figures) == (100, 1000, False)


def test_without_steps_or_times_evidence_is_missing() -> None:
    """What is missing is named."""
    assert _verdict(_job(log="2026-03-01T10:00:00Z other\n")).measured == "no line matches `goodput.step`"
    assert _verdict(_job(log="step 1\n")).measured == "1 line without a time: use `kubectl logs --timestamps`"


def test_the_report_draws_and_lists_it() -> None:
    """The plot describes itself, and the tables have the causes and the interruptions."""
    drawn = goodput([_job()], "run 1")
    assert drawn is not None
    for part in (
        "adas/train: steps over time, min",
        "steps over time of adas/train: 1000 in 20.1 min, 1 interruption; redone 1.67 min",
        "<td>83.0%</td>",
        "detection",
        "trains again after",
        "1.6 min",
    ):
        assert part in drawn.replace(' class="number"', "")
    assert goodput([Job(request=Request(job="job"), ended=Ended.FAILED, readings=())], "run 1") is None


def test_it_is_a_figure_of_jobs_and_of_repeats() -> None:
    """Tables of jobs have it, and later runs are compared with it."""
    assert headline(_job()) == "goodput 83.0%"
    (share,) = figures([_job()])["goodput"].values
    assert share == pytest.approx(83.0, abs=0.1)


def test_a_reading_is_stored_and_read_again() -> None:
    """As JSON it loses nothing."""
    (reading,) = _job().readings
    assert Goodput.model_validate_json(reading.model_dump_json()) == reading


def test_times_have_a_unit_that_suits_them() -> None:
    """Three digits are enough."""
    assert [duration(seconds) for seconds in (0.2634, 59, 90, 7200, 3_600_000)] == [
        "0.263 s", "59 s", "1.5 min", "2 h", "1,000 h"
    ]  # fmt: skip
