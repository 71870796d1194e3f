"""Trainings as time passes, with a clock of the test."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from toolkit.simulator import names
from toolkit.simulator.actors.podlogs import PodLogs
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.actors.training_runs import CLOSED, TrainingRuns
from toolkit.simulator.actors.workload import Outcome
from toolkit.simulator.performance.job import Launched, Machine, Worker
from toolkit.simulator.performance.printed import Steps

TIMEOUT = 6.0


def _pod(name: str, uid: str = "") -> dict[str, Any]:
    annotations = {names.COLLECTIVE_SECONDS: str(TIMEOUT)}
    return {
        "metadata": {"name": name, "namespace": "adas", "uid": uid or name, "annotations": annotations},
        "spec": {"nodeName": f"of-{name}"},
        "status": {"phase": "Running"},
    }


class _World:
    """Two pods of a job, their logs, the machines that are off, and the time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.pods = {("adas", name): _pod(name) for name in ("train-0", "train-1")}
        self.off: set[str] = set()
        self.log: list[str] = []
        monkeypatch.setattr("toolkit.simulator.actors.training_runs.time.monotonic", lambda: self.now)
        cache = SimpleNamespace(get=lambda name, namespace: self.pods.get((namespace, name)))
        self.nodes: dict[str, dict[str, Any]] = {}
        runtime = SimpleNamespace(pods=cache, nodes=self.nodes, is_lost=lambda node: node in self.off)
        logs = SimpleNamespace(append=lambda _pod, line: self.log.append(line))
        self.runs = TrainingRuns(cast("Runtime", runtime), cast("PodLogs", logs))

    def begin(self, name: str, *, newest: Path | None = None) -> Outcome:
        """Begin in a pod: four lines, one a second, with a checkpoint after the second and the fourth."""
        steps = Steps(range(20, 60, 10), 1.0, lambda step: f"step {step}", every=30, newest=newest)
        workers = tuple(Worker(pod, Machine(f"of-{pod}"), gpus=(0, 1)) for _, pod in sorted(self.pods))
        me = next(worker for worker in workers if worker.name == name)
        return self.runs.begin(
            self.pods["adas", name], Outcome(None, (), 0.0, steps=steps), Launched(me, "", (), "one", workers)
        )

    def after(self, seconds: float, name: str = "train-0") -> int | None:
        """Let time pass; return the exit code of a pod, None while it goes on."""
        self.now += seconds
        outcome = self.runs.outcome(self.pods["adas", name])
        assert outcome is not None
        return outcome.exit_code


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> _World:
    """Return two pods that have not begun."""
    return _World(monkeypatch)


def test_steps_are_printed_as_time_passes(world: _World, tmp_path: Path) -> None:
    """Lines come one after the other, a checkpoint is stored with its step, and the end comes with the last."""
    newest = tmp_path / "claim" / "newest"
    world.begin("train-0", newest=newest)
    assert (world.after(1.5), world.log) == (None, ["step 20"])
    assert (world.after(1.0), world.log[1:]) == (None, ["step 30", "saved checkpoint of step 30"])
    assert newest.read_text() == "30"
    assert world.runs.goes_on(world.pods["adas", "train-0"])
    assert world.after(2.0) == 0
    assert not world.runs.goes_on(world.pods["adas", "train-0"])


def test_a_silent_machine_is_missed_after_the_timeout(world: _World) -> None:
    """No step ends any more, and after the time-out of collectives the pod fails with the watchdog's lines."""
    world.begin("train-0")
    assert world.after(1.5) is None
    world.off.add("of-train-1")
    assert world.after(0.1) is None
    assert (world.after(TIMEOUT - 0.2), world.log) == (None, ["step 20"])
    assert world.after(0.2) == 1
    assert any("Watchdog caught collective operation timeout" in line for line in world.log)


@pytest.mark.parametrize("change", ["deleted", "failed", "replaced"])
def test_a_peer_that_ended_is_missed_at_once(world: _World, change: str) -> None:
    """Its connections are closed."""
    world.begin("train-0")
    peer = world.pods["adas", "train-1"]
    if change == "deleted":
        peer["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    elif change == "failed":
        peer["status"]["phase"] = "Failed"
    else:
        world.pods["adas", "train-1"] = _pod("train-1", "another")
    assert world.after(0.1) is None
    assert world.after(CLOSED) == 1
    assert any("Connection closed by remote peer" in line for line in world.log)


def test_a_peer_that_waits_for_another_pod_does_not_begin_again(world: _World) -> None:
    """A pod in the place of a lost one waits until the others have noticed and started again, too."""
    world.begin("train-0")
    world.begin("train-1")
    world.pods["adas", "train-1"] = _pod("train-1", "another")
    world.begin("train-1")
    assert world.runs.outcome(world.pods["adas", "train-1"]) is None
    assert world.after(0.1) is None
    assert world.after(CLOSED) == 1
    world.pods["adas", "train-0"] = _pod("train-0", "second")
    world.begin("train-1")
    world.begin("train-0")
    assert (world.after(4.5), world.after(0.0, "train-1")) == (0, 0)


def test_a_gpu_that_falls_off_the_bus_ends_its_pod(world: _World) -> None:
    """The pod that was given it fails; a GPU that another pod of the node has is none of its."""
    world.begin("train-0")
    world.nodes["of-train-0"] = {"metadata": {"annotations": {names.FAULTS: '{"gpus_off_the_bus": [5]}'}}}
    assert world.after(1.5) is None
    world.nodes["of-train-0"] = {"metadata": {"annotations": {names.FAULTS: '{"gpus_off_the_bus": [1]}'}}}
    assert world.after(0.1) == 1
    assert "torch.AcceleratorError: CUDA error: unknown error" in world.log


def test_what_is_gone_is_forgotten(world: _World) -> None:
    """A pod that was deleted has no training."""
    world.begin("train-0")
    world.runs.forget(world.pods["adas", "train-0"])
    assert world.runs.outcome(world.pods["adas", "train-0"]) is None
