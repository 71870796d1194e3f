"""The rounds of a suite: read from a cluster or from logs, stored, and compared."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from apis import suite
from apis.kinds import Kind
from cli.shared import identity, results, session, state_checks
from cli.shared.cluster_client import Cluster
from cli.shared.errors import Problem
from cli.shared.stack import Stack, read
from cli.verify import command as verify
from cli.verify import history, suite_rounds
from evidence.records import read as stored
from evidence.verdict import Ended
from tests.evidence.criteria.cases import TABLE, nccl, slower
from tests.support.commands import finished
from tests.support.messages import has

JOB = "nccl-test-04x08"
FIRST, SECOND, THIRD = "2611070200", "2611140200", "2611210200"
STEADY = (1.0, 1.01, 0.99, 1.0, 1.002)


@pytest.fixture
def stack(sim_home: Path, monkeypatch: pytest.MonkeyPatch) -> Stack:  # noqa: ARG001 - it says where clusters are
    """Give a stack with a suite, on a cluster that is its own."""
    monkeypatch.setattr(state_checks, "require_own_cluster", lambda _: None)
    monkeypatch.setattr(identity, "require_unless_forbidden", lambda *_: None)
    return read("h200-infiniband")


class Rounds(Cluster):
    """A cluster with runs of one job: by their name the factor of their times, and None for one that failed."""

    def __init__(self, runs: Mapping[str, float | None], *, active: bool = False, release: str = "4.21") -> None:
        super().__init__(Path(), "lab")
        self.__dict__.update(runs=runs, active=active, release=release, read_logs=[])

    runs: Mapping[str, float | None]
    active: bool
    release: str
    read_logs: list[str]

    def list(self, kind: Kind, namespace: str = "", **query: str) -> list[dict[str, Any]]:
        """Return the MPIJobs of the suite, and their launchers."""
        if kind.kind == "MPIJob":
            assert (namespace, query) == ("training", {"labelSelector": "hpc.pulumi/suite=suite"})
            return [self._job(name, factor) for name, factor in self.runs.items()]
        return [_launcher(name) for name in self.runs] if kind.kind == "Pod" else []

    def _job(self, name: str, factor: float | None) -> dict[str, Any]:
        labels = {suite.JOB: JOB, suite.RUN: name.removeprefix(f"{JOB}-")}
        meta = {"name": name, "namespace": "training", "labels": labels}
        meta["annotations"] = {suite.VERSIONS: json.dumps({"OpenShift": self.release})}
        state = "Failed" if factor is None else "Succeeded"
        return {"metadata": meta, "status": {"conditions": [{"type": state, "status": "True"}]}}

    def read(self, kind: Kind, namespace: str, name: str) -> dict[str, Any] | None:
        """Return the CronJob."""
        assert (kind.api_version, namespace, name) == ("batch/v1", "training", "suite")
        return {"status": {"active": [{"name": "suite-1"}] if self.active else []}}

    def download(self, path: str, file: Path, **_: str) -> bool:
        """Write the log of a launcher."""
        name = path.split("/")[-2].removesuffix("-launcher")
        self.read_logs.append(name)
        file.write_text(nccl() + slower(TABLE, self.runs[name] or 1.0))
        return True


def _launcher(name: str) -> dict[str, Any]:
    labels = {"training.kubeflow.org/job-name": name, "training.kubeflow.org/job-role": "launcher"}
    meta = {"name": f"{name}-launcher", "namespace": "training", "labels": labels}
    return {"metadata": meta, "spec": {"containers": [{"name": "main", "image": "nccl:1"}]}}


def runs(round_: str, factors: Sequence[float | None] = STEADY, by: float = 1.0) -> dict[str, float | None]:
    """Return the runs of a round."""
    numbered = enumerate(factors, 1)
    return {f"{JOB}-{round_}-{number}": factor and factor * by for number, factor in numbered}


def test_a_round_is_stored_once_and_the_median_is_compared(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rounds outlive the cluster's copies of them: what is stored is not read again."""
    before = Rounds(runs(FIRST) | runs(SECOND))
    monkeypatch.setattr(session, "cluster", lambda _: before)
    history.of_stack(stack, [], everything=False, plain=True)
    assert len(before.read_logs) == 10
    after = Rounds(runs(SECOND) | runs(THIRD, by=1.2), release="4.22")
    monkeypatch.setattr(session, "cluster", lambda _: after)
    capsys.readouterr()
    assert history.of_stack(stack, [], everything=False, plain=True) == 1
    assert sorted(after.read_logs) == sorted(runs(THIRD))
    rounds = [kept.run for kept in stored(results.rounds(stack))]
    assert [f"{each.time:{suite.ROUND_FORMAT}}" for each in rounds] == [FIRST, SECOND, THIRD]
    (job,) = rounds[-1].jobs
    assert (job.request.job, job.ended, len(job.readings)) == (f"training/{JOB}", Ended.SUCCEEDED, 5)
    verdicts = json.loads(capsys.readouterr().out)["verdicts"]
    alerts = [each for each in verdicts if each["criterion"] == "as-fast-as-before"]
    assert {each["status"] for each in alerts} == {"fail"}
    assert all(has(each["measured"], "20.0% worse", "OpenShift 4.21 became 4.22") for each in alerts)
    assert history.of_stack(stack, [str(results.rounds(stack))], everything=False, plain=True) == 1


def test_a_round_under_way_is_left_out(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runner may not have created all of its runs yet."""
    monkeypatch.setattr(session, "cluster", lambda _: Rounds(runs(FIRST) | runs(SECOND, (1.0,)), active=True))
    assert [f"{each.time:{suite.ROUND_FORMAT}}" for each in suite_rounds.ended(stack, (), silent=True)] == [FIRST]


def test_a_repeat_that_failed_fails_its_job(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """A median of four good runs does not hide the fifth."""
    monkeypatch.setattr(session, "cluster", lambda _: Rounds(runs(FIRST, (1.0, 1.0, None, 1.0, 1.0))))
    ((job,),) = (each.jobs for each in suite_rounds.ended(stack, (), silent=True))
    assert job.ended is Ended.FAILED
    assert has(str(job.why), "repeat 3 failed")


def test_logs_of_a_round_are_judged_without_a_cluster(stack: Stack, tmp_path: Path) -> None:
    """The folders are called as those that are stored; anything else is refused with an example."""
    for round_, factor in ((FIRST, 1.0), (SECOND, 1.2)):
        for name, one in runs(round_, by=factor).items():
            (tmp_path / f"training_{name}").mkdir()
            (tmp_path / f"training_{name}" / f"{name}-launcher.log").write_text(nccl() + slower(TABLE, one or 1))
    status, output = finished(verify.command, "--history", "--stack", "h200-infiniband", "-f", str(tmp_path))
    assert status == 1
    assert has(" ".join(output.split()), "2 rounds, 2026-11-07 02:00 UTC", "as-fast-as-before", "fail")
    (tmp_path / "empty").mkdir()
    with pytest.raises(Problem, match="has no logs of a suite's runs"):
        suite_rounds.of_logs(stack, tmp_path / "empty")


def test_history_is_of_a_stack_with_a_suite(dev: Stack) -> None:
    """Other options do not go with it, and for a stack without a suite the message has where to add one."""
    with pytest.raises(Problem, match="stack dev has no suite"):
        history.of_stack(dev, [], everything=False, plain=True)
    with pytest.raises(Problem, match="--layout and --history exclude each other"):
        finished(verify.command, "--history", "--layout", "02x08")
