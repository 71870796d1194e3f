"""The simulated kubelet's decision how a pod ends."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from simulator import names
from simulator.actors import gates, kubelet, launcher, workload
from simulator.actors.kubelet import Kubelet
from simulator.actors.podlogs import PodLogs
from simulator.actors.runtime import Runtime

POD: dict[str, Any] = {
    "metadata": {"name": "listener", "namespace": "adas", "uid": "1"},
    "spec": {"nodeName": "dgx02", "restartPolicy": "Never", "containers": [{"name": "test", "image": "perftest"}]},
    "status": {"phase": "Running"},
}


def test_an_end_that_is_decided_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache may not show the end yet when the client has gone: the listener's log is not written again."""
    ends = [
        SimpleNamespace(lines=["# results"], exit_code=0, seconds=1.0),
        SimpleNamespace(lines=["* Waiting for client to connect... *"], exit_code=None, seconds=0.0),
    ]
    written: list[list[str]] = []
    logs = SimpleNamespace(set_lines=lambda _pod, lines: written.append(lines), serve=lambda _pod: None)
    runtime = SimpleNamespace(networks=None, pods=None, settings=SimpleNamespace(run_seconds=1.0))
    monkeypatch.setattr(kubelet, "Networks", lambda *_: None)
    monkeypatch.setattr(kubelet, "launched", lambda *_: None)
    for module, name, value in (
        (gates, "fault", None),
        (launcher, "unreachable", None),
        (workload, "takes", 1.0),
        (workload, "message_shown", ""),
    ):
        monkeypatch.setattr(module, name, lambda *_, value=value: value)
    monkeypatch.setattr(workload, "outcome", lambda *_: ends.pop(0))
    made = Kubelet(cast("Runtime", runtime), cast("PodLogs", logs))
    key = ("adas", "listener")
    first = made._wanted(key, POD)
    assert first[names.EXIT_CODE] == "0"
    assert made._wanted(key, POD) == first
    assert written == [["# results"]]
    again = {**POD, "metadata": {**POD["metadata"], "uid": "2"}}
    assert made._wanted(key, again) == {}
