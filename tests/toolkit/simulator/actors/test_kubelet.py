"""The simulated kubelet's decision how a pod ends."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from toolkit.simulator import names
from toolkit.simulator.actors import gates, kubelet, launcher, workload
from toolkit.simulator.actors.kubelet import Kubelet
from toolkit.simulator.actors.podlogs import PodLogs
from toolkit.simulator.actors.runtime import Runtime

POD: dict[str, Any] = {
    "metadata": {"name": "listener", "namespace": "adas", "uid": "1"},
    "spec": {"nodeName": "dgx02", "restartPolicy": "Never", "containers": [{"name": "test", "image": "perftest"}]},
    "status": {"phase": "Running"},
}
KEY = ("adas", "listener")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Kubelet:
    """Return a kubelet of pods whose work a test decides, by `workload.outcome`."""
    logs = SimpleNamespace(set_lines=lambda *_: None, serve=lambda *_: None)
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
    return Kubelet(cast("Runtime", runtime), cast("PodLogs", logs))


def test_an_end_that_is_decided_stays(made: Kubelet, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache may not show the end yet when the client has gone: the listener's log is not written again."""
    ends = [
        SimpleNamespace(lines=["# results"], exit_code=0, seconds=1.0),
        SimpleNamespace(lines=["* Waiting for client to connect... *"], exit_code=None, seconds=0.0),
    ]
    written: list[list[str]] = []
    monkeypatch.setattr(made._logs, "set_lines", lambda _pod, lines: written.append(lines))
    monkeypatch.setattr(workload, "outcome", lambda *_: ends.pop(0))
    first = made._annotations(KEY, POD)
    assert first[names.EXIT_CODE] == "0"
    assert made._annotations(KEY, POD) == first
    assert written == [["# results"]]
    again = {**POD, "metadata": {**POD["metadata"], "uid": "2"}}
    assert made._annotations(KEY, again) == {}


def test_what_changes_during_the_look_wakes_a_pod_that_waits(made: Kubelet, monkeypatch: pytest.MonkeyPatch) -> None:
    """A listener that a look just missed is seen by the next one."""
    woken: list[object] = []

    def look(*_: object) -> SimpleNamespace:
        made._wake("dgx01")
        return SimpleNamespace(lines=[], exit_code=None, seconds=0.0)

    monkeypatch.setattr(made._loop, "add", woken.append)
    monkeypatch.setattr(workload, "outcome", look)
    assert made._annotations(KEY, POD) == {}
    assert woken == [KEY]
