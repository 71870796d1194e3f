"""How a pod's work ends."""

from typing import Any

import pytest

from simulator import names
from simulator.actors import workload

LIFTED = {"metadata": {"annotations": {names.MEMLOCK: names.UNLIMITED}}}
PLAIN: dict[str, Any] = {"metadata": {}}


def pod(args: str, **container: Any) -> dict[str, Any]:
    """Return a pod that runs a shell line."""
    inside = {"name": "c", "image": "example/x:1", "command": ["/bin/sh", "-c"], "args": [args], **container}
    return {"metadata": {"name": "p"}, "spec": {"nodeName": "dgx01", "containers": [inside]}}


@pytest.mark.parametrize("tool", ["ib_write_bw", "ib_send_bw", "ib_read_lat"])
def test_rdma_needs_locked_memory(tool: str) -> None:
    """Prevents an RDMA test that passes on a node without the memlock MachineConfig (R-3.4.3-9)."""
    asked = pod(f"whoami; {tool} dgx02 -d mlx5_1", terminationMessagePolicy="FallbackToLogsOnError")
    failed = workload.outcome(asked, PLAIN, 5)
    assert failed.exit_code == 1
    assert failed.seconds <= 1
    assert "Couldn't allocate MR" in failed.lines
    assert workload.message_shown(asked, failed) == "Couldn't allocate MR"
    assert workload.outcome(asked, LIFTED, 5).exit_code == 0


def test_other_work_succeeds_after_the_time_given() -> None:
    """Prevents jobs that fail, or take another time than the cluster was started with."""
    ended = workload.outcome(pod("python main.py"), PLAIN, 2.5)
    assert (ended.exit_code, ended.seconds) == (0, 2.5)
    assert workload.message_shown(pod("x"), ended) == ""


def test_message_only_where_the_kubelet_shows_it() -> None:
    """Prevents a message that a real kubelet would not give: the default policy reads a file that nobody wrote."""
    asked = pod("ib_write_bw dgx02")
    assert workload.message_shown(asked, workload.outcome(asked, PLAIN)) == ""


def test_log_says_that_it_is_simulated_and_what_was_asked_for() -> None:
    """Prevents a log that could be taken for a real one."""
    limited = pod("mpirun -np 16\nall_reduce_perf", resources={"limits": {"nvidia.com/gpu": 8}})
    first, *rest = workload.outcome(limited, PLAIN).lines
    assert first.startswith("simulated by hpc")
    assert "limits: nvidia.com/gpu=8" in rest
    assert "command: all_reduce_perf" in rest
    assert all("\n" not in line for line in rest)


@pytest.mark.parametrize(("said", "seconds"), [("8", 8.0), ("0.5", 0.5), ("soon", 1.0), ("-1", 1.0), (None, 1.0)])
def test_a_pod_may_say_how_long_its_work_takes(said: str | None, seconds: float) -> None:
    """Prevents a pod that never ends, or an actor that does, over an annotation that is no number."""
    annotations = {names.TAKES: said} if said is not None else None
    assert workload.takes({"metadata": {"annotations": annotations}}, 1.0) == seconds
