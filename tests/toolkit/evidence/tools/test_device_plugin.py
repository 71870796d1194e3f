"""The device plugin's log, of 2018 and of today."""

import pytest

from tests.support.mutated import mutations, only, read_text
from tests.toolkit.evidence.tools.logs import DEVICE_PLUGIN as OLD
from toolkit.evidence.tools.device_plugin import DevicePlugin, Milestone

_SOCKET = "/var/lib/kubelet/device-plugins/nvidia-gpu.sock"
# Messages of cmd/nvidia-device-plugin/main.go and internal/plugin/server.go of v0.17, klog's prefix before them.
NEW = f"""I0114 14:56:40.210342       1 main.go:235] "Starting NVIDIA Device Plugin" version=<
\td475b2cf
\tcommit: d475b2cfcf12b983a4975d4fc59d91af432cf28e
 >
I0114 14:56:40.213554       1 main.go:238] Starting FS watcher for /var/lib/kubelet/device-plugins
I0114 14:56:40.213756       1 main.go:245] Starting OS watcher.
I0114 14:56:40.214103       1 main.go:260] Starting Plugins.
I0114 14:56:40.214154       1 main.go:317] Loading configuration.
I0114 14:56:40.215464       1 main.go:342] Updating config with default resource matching patterns.
I0114 14:56:40.215695       1 main.go:353]
Running with config:
{{
  "version": "v1",
  "flags": {{
    "migStrategy": "none"
  }}
}}
I0114 14:56:40.896708       1 main.go:356] Retrieving plugins.
I0114 14:56:40.921178       1 server.go:195] Starting GRPC server for 'nvidia.com/gpu'
I0114 14:56:40.922338       1 server.go:139] Starting to serve 'nvidia.com/gpu' on {_SOCKET}
I0114 14:56:40.925499       1 server.go:146] Registered device plugin for 'nvidia.com/gpu' with Kubelet
"""


def test_the_printed_log_registers_in_order() -> None:
    """The printed log of 2018 registers in order."""
    found = only(DevicePlugin, OLD)
    assert (found.complete, found.registered, found.in_order) == (True, True, True)
    assert [(one.line, one.milestone.value) for one in found.milestones] == [
        (1, "Loading NVML"),
        (2, "Fetching devices"),
        (3, "Starting FS watcher"),
        (4, "Starting OS watcher"),
        (5, "Starting to serve"),
        (6, "Registered device plugin"),
    ]
    assert (found.resource, found.socket) == (None, "/var/lib/kubelet/device-plugins/nvidia.sock")
    assert not found.unread


def test_todays_log_registers_in_order_and_names_its_resource() -> None:
    """Today's log registers in order and names its resource; its configuration is not damage."""
    found = only(DevicePlugin, NEW)
    assert (found.complete, found.registered, found.in_order) == (True, True, True)
    assert (found.resource, found.socket) == ("nvidia.com/gpu", _SOCKET)
    assert found.milestones[0].milestone is Milestone.STARTING
    assert len(found.milestones) == 9
    assert not found.unread
    assert not found.failures


def test_the_form_between_them_is_read() -> None:
    """Releases that start with the watcher, or print `Retreiving`, are read."""
    text = NEW[NEW.index("I0114 14:56:40.213554") :].replace("Retrieving", "Retreiving")
    assert only(DevicePlugin, text).registered


@pytest.mark.parametrize(
    "said",
    [
        "2018/11/27 03:44:12 Could not register device plugin: context deadline exceeded",
        "2018/11/27 03:44:12 Failed to initialize NVML: could not load NVML library.",
    ],
)
def test_a_plugin_that_the_kubelet_did_not_take_is_not_registered(said: str) -> None:
    """A plugin that the kubelet did not accept is not registered."""
    found = only(DevicePlugin, OLD.replace("2018/07/12 12:29:38 Registered device plugin with Kubelet", said))
    assert (found.complete, found.registered) == (False, False)
    assert [(one.line, one.text) for one in found.failures] == [(6, said)]


def test_a_plugin_that_stopped_after_it_registered_does_not_serve() -> None:
    """A plugin that stopped after its registration is not registered."""
    stopped = NEW + "I1017 12:05:33.312501    1667 main.go:353] Stopping plugins.\n"
    assert not only(DevicePlugin, stopped).registered
    again = stopped + NEW[NEW.index("I0114 14:56:40.896708") :]
    assert only(DevicePlugin, again).registered


def test_milestones_out_of_order_show() -> None:
    """Milestones out of order are reported."""
    lines = OLD.splitlines(keepends=True)
    assert not only(DevicePlugin, "".join([lines[0], lines[5], *lines[1:5]])).in_order


def test_two_starts_and_two_pods_are_distinguished() -> None:
    """Two starts, and two pods, are readings of their own."""
    assert [one.complete for one in read_text(OLD.replace(OLD.splitlines()[-1] + "\n", "") + OLD)] == [False, True]
    lines = zip(OLD.splitlines(), [*OLD.splitlines()[:-1], "2018/07/12 12:29:39 Could not register"], strict=True)
    both = "".join(f"[pod/a/plugin] {one}\n[pod/b/plugin] {other}\n" for one, other in lines)
    assert [one.registered for one in read_text(both) if isinstance(one, DevicePlugin)] == [True, False]


def test_damage_never_raises_and_never_registers_without_the_line() -> None:
    """A damaged log does not raise, and registers only with its line."""
    for text in (OLD, NEW):
        for raw in mutations(text, 100):
            for found in read_text(raw):
                if isinstance(found, DevicePlugin) and found.registered:
                    assert b"Registered device plugin" in raw
