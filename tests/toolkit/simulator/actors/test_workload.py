"""How a pod's work ends."""

from typing import Any

import pytest

from toolkit.simulator import names
from toolkit.simulator.actors import pod_devices, workload
from toolkit.simulator.actors.pod_devices import PodDevice
from toolkit.simulator.performance import pod_commands
from toolkit.simulator.performance.job import Launched, Machine, Worker
from toolkit.simulator.performance.printed import Printed


def pod(args: str, **container: Any) -> dict[str, Any]:
    """Return a pod that runs a shell line."""
    inside = {"name": "c", "image": "example/x:1", "command": ["/bin/sh", "-c"], "args": [args], **container}
    return {"metadata": {"name": "p"}, "spec": {"nodeName": "dgx01", "containers": [inside]}}


def job(seconds: float = 1.0, *words: str) -> Launched:
    """Return what a pod launches."""
    return Launched(Worker("p", Machine("dgx01")), "example/x:1", words, "run", seconds=seconds)


@pytest.fixture(autouse=True)
def _broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a program be known that fails."""
    failed = Printed(("first", "the cause", "last"), 3, "the cause")
    monkeypatch.setattr(pod_commands, "PROGRAMS", {"broken": lambda *_: failed})


def test_other_work_succeeds_after_the_time_given() -> None:
    """A job takes the time that the cluster was started with."""
    ended = workload.outcome(pod("python main.py"), job(2.5, "python", "main.py"))
    assert (ended.exit_code, ended.seconds) == (0, 2.5)
    assert workload.message_shown(pod("x"), ended) == ""


def test_work_that_fails_says_why_where_the_kubelet_shows_it() -> None:
    """The cause is in the log; the termination message is the log's end only where the container requests it."""
    ended = workload.outcome(pod("broken"), job(5, "broken"))
    assert (ended.exit_code, ended.seconds, ended.lines[-3:]) == (3, 1, ("first", "the cause", "last"))
    assert workload.message_shown(pod("broken"), ended) == ""
    assert workload.message_shown(pod("broken", terminationMessagePolicy="FallbackToLogsOnError"), ended) == "the cause"


def test_log_says_that_it_is_simulated_and_what_was_asked_for() -> None:
    """A log's first line says that it is simulated."""
    limited = pod("mpirun -np 16\nall_reduce_perf", resources={"limits": {"nvidia.com/gpu": 8}})
    lines = workload.outcome(limited, job()).lines
    assert all(line.startswith("simulated by hpc: ") for line in lines)
    assert "simulated by hpc: limits: nvidia.com/gpu=8" in lines
    assert "simulated by hpc: command: all_reduce_perf" in lines
    assert all("\n" not in line for line in lines)


def test_log_names_the_devices_of_claims() -> None:
    """What the pod's claims gave it has no limit in its containers, so the log says it."""
    devices = [PodDevice("c", "u", "gpus", "gpu.nvidia.com", "dgx01", f"gpu-{gpu}") for gpu in (2, 3)]
    claiming = pod("true")
    claiming["metadata"]["annotations"] = {names.DEVICES: pod_devices.written(devices)}
    lines = workload.introduction(claiming)
    assert "simulated by hpc: devices of claims: gpu.nvidia.com/gpu-2, gpu.nvidia.com/gpu-3" in lines


@pytest.mark.parametrize(("said", "seconds"), [("8", 8.0), ("0.5", 0.5), ("soon", 1.0), ("-1", 1.0), (None, 1.0)])
def test_a_pod_may_say_how_long_its_work_takes(said: str | None, seconds: float) -> None:
    """An annotation that is not a number is ignored."""
    annotations = {names.TAKES: said} if said is not None else None
    assert workload.takes({"metadata": {"annotations": annotations}}, 1.0) == seconds
