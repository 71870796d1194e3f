"""Which jobs of a stack are judged, when, and where the result goes."""

import time
from collections import Counter
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

import pytest

from core.apis.kinds import Kind
from core.progress import SILENT
from tests.toolkit.evidence.samples import nccl
from toolkit.cli.shared import identity, session, stack_checks
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.stack import Stack
from toolkit.cli.status.overview import OURS
from toolkit.cli.verify import nodes, stack_jobs
from toolkit.cli.verify.expectations import requests
from toolkit.cli.verify.stack_jobs import chosen, store, versions
from toolkit.evidence.reader import read
from toolkit.evidence.records import FILE
from toolkit.evidence.records import read as runs_of
from toolkit.evidence.tools.nvidia_smi import NvidiaSmi
from toolkit.evidence.verdict import Ended, Job, Request, Shape, Status, Verdict

WANTED = "adas/nccl-test-02x08"


@pytest.mark.parametrize("name", ["nccl-test-02x08", WANTED])
def test_a_job_is_named_with_or_without_its_tenant(dev: Stack, name: str) -> None:
    """A job is named with or without its tenant."""
    assert [one.job for one in chosen(requests(dev.settings, {}), [name], dev)] == [WANTED]


def test_a_job_that_is_not_there_is_reported_with_those_that_are(dev: Stack) -> None:
    """A job that does not exist is reported with those that do."""
    with pytest.raises(Problem, match=r"stack dev has no job nccl[\s\S]*nccl-test-02x08"):
        chosen(requests(dev.settings, {}), ["nccl-test-01x08", "nccl"], dev)
    assert len(chosen(requests(dev.settings, {}), None, dev)) == len(requests(dev.settings, {}))


class Clock(Cluster):
    """Time that passes only in `sleep`, and jobs that change with it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, states: Sequence[str], refused: Container[str] = ()) -> None:
        super().__init__(Path(), "lab")
        self.__dict__.update(now=0.0, states=states, refused=refused, listed=[])
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "sleep", self.sleep)

    now: float
    states: Sequence[str]
    refused: Container[str]
    listed: list[str]

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.__dict__["now"] += seconds

    def list(self, kind: Kind, namespace: str = "", **query: str) -> list[dict[str, Any]]:
        """Return the job as it is now, and another that never ends."""
        assert namespace == ""
        self.listed.append(kind.kind)
        if kind.kind in self.refused:
            raise RefusedError(f"{kind.kind} refused", "Log in again.", "403, forbidden")
        if kind.kind != "MPIJob":
            return []
        assert query == {"labelSelector": OURS}
        state = self.states[min(int(self.now), len(self.states) - 1)]
        return [_mpi_job("a", state), _mpi_job("b", "Running")]


def _mpi_job(name: str, state: str) -> dict[str, Any]:
    met = [{"type": state, "status": "True"}] if state != "Pending" else []
    return {"metadata": {"name": name, "namespace": "adas"}, "status": {"conditions": met}}


@pytest.mark.parametrize(
    ("states", "wait", "then"),
    [
        (["Running", "Running", "Succeeded"], None, (2, "Succeeded")),
        (["Pending", "Created", "Suspended", "Running", "Failed"], 10.0, (4, "Failed")),
        (["Running"], 3.0, (3, "Running")),
        (["Running"], 0.0, (0, "Running")),
        (["Succeeded"], None, (0, "Succeeded")),
    ],
)
def test_jobs_under_way_are_waited_for_and_no_others(
    dev: Stack, monkeypatch: pytest.MonkeyPatch, states: Sequence[str], wait: float | None, then: tuple[float, str]
) -> None:
    """Jobs that are running are waited for, and no others."""
    clock = Clock(monkeypatch, states)
    seen = stack_jobs._ended(clock, dev, {"adas/a"}, wait, SILENT)
    assert (clock.now, seen[0].state) == then


def test_a_real_cluster_is_not_queried_every_second(dev: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real cluster is queried every few seconds, a simulated one every second."""
    monkeypatch.setattr(Stack, "simulated", False)
    clock = Clock(monkeypatch, ["Running"])
    stack_jobs._ended(clock, dev, {"adas/a"}, 12.0, SILENT)
    assert clock.now == 12.0
    assert Counter(clock.listed) == {"MPIJob": 5, "Job": 5, "Event": 1, "Workload": 1}


def test_events_that_may_not_be_seen_are_done_without(dev: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """An account without events gets verdicts without them."""
    clock = Clock(monkeypatch, ["Succeeded"], refused=("Event",))
    assert [one.state for one in stack_jobs._ended(clock, dev, {"adas/a"}, None, SILENT)] == ["Succeeded", "Running"]
    with pytest.raises(Problem, match="MPIJob refused"):
        stack_jobs._ended(Clock(monkeypatch, [""], refused=("MPIJob",)), dev, {"adas/a"}, None, SILENT)


@pytest.mark.parametrize(("simulated", "seconds"), [(True, None), (False, 2.0)])
def test_the_duration_of_a_simulated_job_is_not_its_run_time(
    dev: Stack, monkeypatch: pytest.MonkeyPatch, simulated: bool, seconds: float | None
) -> None:
    """The seconds of a simulated job are not used as its run time."""
    job = Job(request=Request(job=WANTED), ended=Ended.SUCCEEDED, seconds=2.0, readings=())
    monkeypatch.setattr(Stack, "simulated", simulated)
    monkeypatch.setattr(stack_checks, "require_own_cluster", lambda _: None)
    monkeypatch.setattr(identity, "require_unless_forbidden", lambda *_: None)
    monkeypatch.setattr(session, "cluster", lambda _: Clock(monkeypatch, ["Succeeded"]))
    monkeypatch.setattr(stack_jobs, "collect", lambda *_: [job])
    assert [one.seconds for one in stack_jobs.gather(dev, [WANTED], wait=0, silent=True)] == [seconds]


def test_the_jobs_of_another_cluster_are_not_judged(dev: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs of another cluster than the stack's are not judged."""
    clock = Clock(monkeypatch, ["Succeeded"])

    def foreign(_: Stack, cluster: Cluster) -> None:
        assert cluster is clock
        raise identity.ForeignClusterError("another", "Correct it.")

    monkeypatch.setattr(stack_checks, "require_own_cluster", lambda _: None)
    monkeypatch.setattr(session, "cluster", lambda _: clock)
    monkeypatch.setattr(identity, "require_unless_forbidden", foreign)
    with pytest.raises(identity.ForeignClusterError):
        stack_jobs.gather(dev, [WANTED], wait=0, silent=True)
    assert not clock.listed


def test_a_result_is_kept_beside_the_cluster_with_what_ran(dev: Stack) -> None:
    """A result is stored beside the cluster, with versions and whether it was simulated."""
    facts = nodes.facts([{"metadata": {"name": "dgx01"}, "status": {"nodeInfo": {"kernelVersion": "3.10"}}}])
    job = Job(request=Request(job="nodes"), ended=Ended.SUCCEEDED, readings=(facts,))
    verdict = Verdict(
        criterion="job-ended",
        job="nodes",
        status=Status.PASS,
        measured="succeeded",
        limit="succeeded",
        source="R-4.1-2",
    )
    file, number = store(dev, [job], [verdict])
    assert (file, number) == (dev.results / FILE, 1)
    assert file.is_relative_to(dev.home)
    run = runs_of(file).last().run
    assert run.simulated
    assert run.versions == {
        "OpenShift": "4.4",
        "way to GPUs": "special-resource-operator, channel 4.4",
        "MPI operator": "mpioperator/mpi-operator:v0.2.3",
        "kernel": "3.10",
    }
    assert run.jobs == (job,)


def test_versions_that_differ_between_nodes_are_both_shown(dev: Stack) -> None:
    """Versions that differ between nodes are both shown."""
    two = [{"metadata": {"name": name}, "status": {"nodeInfo": {"kernelVersion": name}}} for name in ("b", "a")]
    job = Job(request=Request(job="nodes"), ended=Ended.SUCCEEDED, readings=(nodes.facts(two),))
    assert versions(dev.settings, [job])["kernel"] == "a, b"


def test_the_versions_of_a_result_are_those_that_its_logs_print(dev: Stack) -> None:
    """CUDA of the driver, NCCL and the jobs' images are stored with a result, beside what nodes and settings say."""
    found_in = read(ROOT / "tests" / "toolkit" / "evidence" / "logs" / "nvidia-smi" / "r-4.4-2.log")
    smi = next(reading for reading in found_in if isinstance(reading, NvidiaSmi))
    readings = (smi, smi.model_copy(update={"nccl": nccl(Shape(pods=2, gpus=8)), "cuda": None}))
    job = Job(
        request=Request(job="a"), ended=Ended.SUCCEEDED, readings=readings, versions={"image": "tensorflow:20.03"}
    )
    stored = versions(dev.settings, [job])
    assert (stored["CUDA of the driver"], stored["NCCL"], stored["images"]) == (smi.cuda, "2.5.6", "tensorflow:20.03")
    assert stored["OpenShift"] == "4.4"
