"""The simulated kubelet's decision how a pod ends."""

import copy
from types import SimpleNamespace
from typing import Any, cast

import pytest

from core.hardware.profiles import PROFILES, Profile
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
        SimpleNamespace(steps=None, lines=["# results"], exit_code=0, seconds=1.0),
        SimpleNamespace(steps=None, lines=["* Waiting for client to connect... *"], exit_code=None, seconds=0.0),
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
        return SimpleNamespace(steps=None, lines=[], exit_code=None, seconds=0.0)

    monkeypatch.setattr(made._loop, "add", woken.append)
    monkeypatch.setattr(workload, "outcome", look)
    assert made._annotations(KEY, POD) == {}
    assert woken == [KEY]


VALIDATOR = "nvcr.io/nvidia/cloud-native/gpu-operator-validator:v26.7.0"
DRIVER, TOOLKIT = "nvcr.io/nvidia/driver:580.95.05-rhcos4.20", "nvcr.io/nvidia/k8s/container-toolkit:v1"
PLUGIN = "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"


def pod(image: str, *validations: str, command: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a pod of one container and these init containers."""
    checks = [{"name": name, "image": VALIDATOR} for name in validations]
    main = {"name": "main", "image": image, "command": list(command)}
    return {
        "metadata": {"name": "p", "namespace": "ns"},
        "spec": {"nodeName": "n", "containers": [main], "initContainers": checks},
    }


class Node:
    """A runtime of one node, with the pods that run there."""

    def __init__(self, *images: str, host: bool = False, profile: str = "dgx1-v100-16gb") -> None:
        marks = {"hpc.sim/host-driver": "true"} if host else {}
        self.nodes = {"n": {"metadata": {"name": "n", "annotations": marks}}}
        self._running = [pod(image) for image in images]
        self._profile = profile

    def running_on(self, _node: str) -> list[dict[str, Any]]:
        """Return the pods."""
        return self._running

    def profile(self, _node: object) -> Profile:
        """Return the hardware."""
        return PROFILES[self._profile]


@pytest.mark.parametrize(
    ("node", "waiting"),
    [
        (Node(), ["driver-validation", "toolkit-validation", "plugin-validation"]),
        (Node(host=True), ["toolkit-validation", "plugin-validation"]),
        (Node(DRIVER), ["toolkit-validation", "plugin-validation"]),
        (Node(DRIVER, TOOLKIT), ["plugin-validation"]),
        (Node(DRIVER, TOOLKIT, PLUGIN), []),
    ],
)
def test_each_part_waits_for_the_one_before(node: Node, waiting: list[str]) -> None:
    """A device plugin waits for the driver."""
    known = ("driver-validation", "toolkit-validation", "plugin-validation")
    found = [name for name in known if gates.waits(pod(PLUGIN, name), cast(Runtime, node))]
    assert found == waiting


def test_others_init_containers_wait_for_nothing() -> None:
    """Only the operators' own init containers wait for a driver."""
    tenants = pod("registry.example.com/image:1", "driver-validation")
    tenants["spec"]["initContainers"][0]["image"] = "registry.example.com/other:1"
    assert not gates.waits(tenants, cast(Runtime, Node()))


def test_a_driver_that_does_not_know_the_gpu_ends() -> None:
    """A driver's pod does not get ready on a machine whose GPUs it does not know."""
    assert gates.fault(pod(DRIVER), cast(Runtime, Node())) is None
    new = pod("nvcr.io/nvidia/driver:595.91.07-rhcos4.20")
    assert "will ignore this GPU" in (gates.fault(new, cast(Runtime, Node())) or "")
    assert gates.fault(new, cast(Runtime, Node(profile="dgx-a100"))) is None
    assert gates.fault(pod(PLUGIN), cast(Runtime, Node())) is None


@pytest.mark.parametrize(
    ("node", "why"),
    [(Node(), "NVML doesn't exist"), (Node(DRIVER), "open /x.csv: no such file"), (Node(host=True), "open /x")],
)
def test_an_exporter_needs_a_driver_and_its_list(node: Node, why: str) -> None:
    """NVIDIA's exporter exits without a driver, and by a list that its pod does not mount; without one it runs."""
    exporter = pod("nvcr.io/nvidia/k8s/dcgm-exporter:4.6.0-4.8.3")
    listed = copy.deepcopy(exporter)
    listed["spec"]["containers"][0]["env"] = [{"name": "DCGM_EXPORTER_COLLECTORS", "value": "/x.csv"}]
    assert why in str(gates.fault(listed, cast(Runtime, node)))
    assert (gates.fault(exporter, cast(Runtime, node)) is None) == ("NVML" not in why)
