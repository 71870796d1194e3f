"""The device plugin's log, of 2018 and of today."""

import pytest

from evidence.tools.device_plugin import DevicePlugin, Milestone
from tests.support.mutated import mutations, read_text

# S-7.4, as printed.
OLD = """2018/07/12 12:29:38 Loading NVML
2018/07/12 12:29:38 Fetching devices.
2018/07/12 12:29:38 Starting FS watcher.
2018/07/12 12:29:38 Starting OS watcher.
2018/07/12 12:29:38 Starting to serve on /var/lib/kubelet/device-plugins/nvidia.sock
2018/07/12 12:29:38 Registered device plugin with Kubelet
"""
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


def _read(text: str) -> DevicePlugin:
    (found,) = read_text(text)
    assert isinstance(found, DevicePlugin)
    return found


def test_the_printed_log_registers_in_order() -> None:
    """Prevents a healthy plugin of 2018 from failing (S-7.4)."""
    found = _read(OLD)
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
    """Prevents a check that knows the plugin of 2018 alone; its configuration is no damage."""
    found = _read(NEW)
    assert (found.complete, found.registered, found.in_order) == (True, True, True)
    assert (found.resource, found.socket) == ("nvidia.com/gpu", _SOCKET)
    assert found.milestones[0].milestone is Milestone.STARTING
    assert len(found.milestones) == 9
    assert not found.unread
    assert not found.failures


def test_the_form_between_them_is_read() -> None:
    """Prevents releases that begin with the watcher, or spell `Retreiving`, from being unknown."""
    text = NEW[NEW.index("I0114 14:56:40.213554") :].replace("Retrieving", "Retreiving")
    assert _read(text).registered


@pytest.mark.parametrize(
    "said",
    [
        "2018/11/27 03:44:12 Could not register device plugin: context deadline exceeded",
        "2018/11/27 03:44:12 Failed to initialize NVML: could not load NVML library.",
    ],
)
def test_a_plugin_that_the_kubelet_did_not_take_is_not_registered(said: str) -> None:
    """Prevents a node without GPUs in its capacity from looking equipped."""
    found = _read(OLD.replace("2018/07/12 12:29:38 Registered device plugin with Kubelet", said))
    assert (found.complete, found.registered) == (False, False)
    assert [(one.line, one.text) for one in found.failures] == [(6, said)]


def test_a_plugin_that_stopped_after_it_registered_does_not_serve() -> None:
    """Prevents a registration of before a restart of the kubelet from counting."""
    stopped = NEW + "I1017 12:05:33.312501    1667 main.go:353] Stopping plugins.\n"
    assert not _read(stopped).registered
    again = stopped + NEW[NEW.index("I0114 14:56:40.896708") :]
    assert _read(again).registered


def test_milestones_out_of_order_show() -> None:
    """Prevents a log that was put together from parts from passing."""
    lines = OLD.splitlines(keepends=True)
    assert not _read("".join([lines[0], lines[5], *lines[1:5]])).in_order


def test_two_starts_and_two_pods_are_told_apart() -> None:
    """Prevents a crash loop, or one dead pod of two, from hiding behind a pod that registered."""
    assert [one.complete for one in read_text(OLD.replace(OLD.splitlines()[-1] + "\n", "") + OLD)] == [False, True]
    lines = zip(OLD.splitlines(), [*OLD.splitlines()[:-1], "2018/07/12 12:29:39 Could not register"], strict=True)
    both = "".join(f"[pod/a/plugin] {one}\n[pod/b/plugin] {other}\n" for one, other in lines)
    assert [one.registered for one in read_text(both) if isinstance(one, DevicePlugin)] == [True, False]


def test_damage_never_raises_and_never_registers_without_the_line() -> None:
    """Prevents a cut log from passing."""
    for text in (OLD, NEW):
        for raw in mutations(text, 100):
            for found in read_text(raw):
                if isinstance(found, DevicePlugin) and found.registered:
                    assert b"Registered device plugin" in raw
