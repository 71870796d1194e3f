"""The rounds of a suite: read from a cluster or from logs, stored, and compared."""

import json
from pathlib import Path

import pytest

from core.apis import suite
from tests.support.commands import finished
from tests.support.messages import has
from tests.support.suite_rounds import FIRST, JOB, SECOND, THIRD, Rounds, runs
from tests.toolkit.evidence.criteria.cases import TABLE, nccl, slower
from toolkit.cli.shared import session
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack
from toolkit.cli.suite import command, suite_rounds
from toolkit.evidence.records import ROUNDS
from toolkit.evidence.records import read as stored
from toolkit.evidence.verdict import Ended


def test_a_round_is_stored_once_and_the_median_is_compared(
    suite_stack: Stack, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rounds outlive the cluster's copies of them: what is stored is not read again."""
    before = Rounds(runs(FIRST) | runs(SECOND))
    monkeypatch.setattr(session, "cluster", lambda _: before)
    command.judge_rounds(suite_stack, [], everything=False, plain=True)
    assert len(before.read_logs) == 10
    after = Rounds(runs(SECOND) | runs(THIRD, by=1.2), release="4.22")
    monkeypatch.setattr(session, "cluster", lambda _: after)
    capsys.readouterr()
    assert command.judge_rounds(suite_stack, [], everything=False, plain=True) == 1
    assert sorted(after.read_logs) == sorted(runs(THIRD))
    rounds = [kept.run for kept in stored(suite_stack.results / ROUNDS)]
    assert [f"{each.time:{suite.ROUND_FORMAT}}" for each in rounds] == [FIRST, SECOND, THIRD]
    (job,) = rounds[-1].jobs
    assert (job.request.job, job.ended, len(job.readings)) == (f"training/{JOB}", Ended.SUCCEEDED, 5)
    verdicts = json.loads(capsys.readouterr().out)["verdicts"]
    alerts = [each for each in verdicts if each["criterion"] == "as-fast-as-before"]
    assert {each["status"] for each in alerts} == {"fail"}
    assert all(has(each["measured"], "20.0% worse", "OpenShift 4.21 became 4.22") for each in alerts)
    assert command.judge_rounds(suite_stack, [str(suite_stack.results / ROUNDS)], everything=False, plain=True) == 1


def test_a_round_under_way_is_left_out(suite_stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runner may not have created all of its runs yet."""
    monkeypatch.setattr(session, "cluster", lambda _: Rounds(runs(FIRST) | runs(SECOND, (1.0,)), active=True))
    assert [f"{each.time:{suite.ROUND_FORMAT}}" for each in suite_rounds.ended(suite_stack, (), silent=True)] == [FIRST]


def test_a_repeat_that_failed_fails_its_job(suite_stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """A median of four good runs does not hide the fifth."""
    monkeypatch.setattr(session, "cluster", lambda _: Rounds(runs(FIRST, (1.0, 1.0, None, 1.0, 1.0))))
    ((job,),) = (each.jobs for each in suite_rounds.ended(suite_stack, (), silent=True))
    assert job.ended is Ended.FAILED
    assert has(str(job.why), "repeat 3 failed")


def test_logs_of_a_round_are_judged_without_a_cluster(suite_stack: Stack, tmp_path: Path) -> None:
    """The folders are called as those that are stored; anything else is refused with an example."""
    for round_, factor in ((FIRST, 1.0), (SECOND, 1.2)):
        for name, one in runs(round_, by=factor).items():
            (tmp_path / f"training_{name}").mkdir()
            (tmp_path / f"training_{name}" / f"{name}-launcher.log").write_text(nccl() + slower(TABLE, one or 1))
    status, output = finished(command.command, "--stack", "h200-infiniband", "-f", str(tmp_path))
    assert status == 1
    assert has(" ".join(output.split()), "2 rounds, 2026-11-07 02:00 UTC", "as-fast-as-before", "fail")
    (tmp_path / "empty").mkdir()
    with pytest.raises(Problem, match="has no logs of a suite's runs"):
        suite_rounds.of_logs(suite_stack, tmp_path / "empty")


def test_history_is_of_a_stack_with_a_suite(dev: Stack) -> None:
    """For a stack without a suite the message has where to add one."""
    with pytest.raises(Problem, match="stack dev has no suite"):
        command.judge_rounds(dev, [], everything=False, plain=True)
