"""Pod logs: one file per container in the runtime's own form (CRI), and the `Logs` object by which kwok serves it."""

import logging
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from toolkit.simulator import pods
from toolkit.simulator.actors import gpus, workload
from toolkit.simulator.actors.api import LOGS, ApiError, Object
from toolkit.simulator.actors.informer import Key, Loop, key_of
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.manifests import manifest

SOCKET = "/var/lib/kubelet/device-plugins/nvidia.sock"
RESOURCE = "nvidia.com/gpu"
FIRST_WITH_KLOG = 14
"""Version 0.14 of the plugin; before 0.0 there were 1.11 of 2018 and 1.0.0-beta of 2020, as old in form."""
_VERSION = re.compile(r"v?0\.(\d+)\.")
NO_DRIVER = "Failed to initialize NVML: could not load NVML library."
log = logging.getLogger(__name__)


def device_plugin_log(tag: str, started: datetime, *, has_driver: bool) -> list[str]:
    """Return what a plugin of an image's tag prints when it starts: the newer ones by klog."""
    match = _VERSION.match(tag)
    newer = match is not None and int(match[1]) >= FIRST_WITH_KLOG
    return _klog(started, has_driver=has_driver) if newer else _of_2018(started, has_driver=has_driver)


def _of_2018(started: datetime, *, has_driver: bool) -> list[str]:
    stamp = f"{started:%Y/%m/%d %H:%M:%S}"
    if not has_driver:
        return [f"{stamp} Loading NVML", f"{stamp} {NO_DRIVER}"]
    messages = (
        "Loading NVML",
        "Fetching devices.",
        "Starting FS watcher.",
        "Starting OS watcher.",
        f"Starting to serve on {SOCKET}",
        "Registered device plugin with Kubelet",
    )
    return [f"{stamp} {message}" for message in messages]


def _klog(started: datetime, *, has_driver: bool) -> list[str]:
    stamp = f"I{started:%m%d %H:%M:%S.%f}       1"
    messages = [
        "main.go:240] Starting FS watcher for /var/lib/kubelet/device-plugins",
        "main.go:247] Starting OS watcher.",
        "main.go:262] Starting Plugins.",
        "main.go:319] Loading configuration.",
    ]
    if not has_driver:
        failed = f"E{started:%m%d %H:%M:%S.%f}       1 factory.go:112] Incompatible strategy detected auto"
        waits = f"{stamp} main.go:381] No devices found. Waiting indefinitely."
        return [*(f"{stamp} {message}" for message in messages), failed, waits]
    messages += [
        "main.go:356] Retrieving plugins.",
        f"server.go:195] Starting GRPC server for '{RESOURCE}'",
        f"server.go:139] Starting to serve '{RESOURCE}' on /var/lib/kubelet/device-plugins/nvidia-gpu.sock",
        f"server.go:146] Registered device plugin for '{RESOURCE}' with Kubelet",
    ]
    return [f"{stamp} {message}" for message in messages]


def cri(lines: Iterable[str], now: datetime) -> str:
    """Return lines in the form that the kubelet reads: time, stream, F for a full line, text."""
    stamp = now.strftime("%Y-%m-%dT%H:%M:%S.%f") + "000Z"
    return "".join(f"{stamp} stdout F {line}\n" for line in lines)


class PodLogs:
    """Writes the log of a pod when its containers start, and one that ends when its end is decided."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._loop = Loop("pod logs", self._publish)
        self._published: dict[Key, str] = {}
        self._served = True

    def start(self) -> None:
        """Start; the runtime's caches must be in."""
        self._loop.start()
        self._runtime.pods.on_change(self._changed)

    def _changed(self, key: Key, _old: Object | None, pod: Object | None) -> None:
        if pod is None:
            self._published.pop(key, None)
        elif pods.phase(pod) == "Running" and self._published.get(key) != pod["metadata"]["uid"]:
            self._loop.add(key)

    def folder(self, pod: Object) -> Path:
        """Return where the log files of a pod are."""
        meta = pod["metadata"]
        return self._runtime.settings.home / "pods" / f"{meta['namespace']}_{meta['name']}_{meta['uid']}"

    def set_lines(self, pod: Object, lines: Iterable[str]) -> None:
        """Write the log of a pod's containers; a restarted container begins a new one."""
        folder = self.folder(pod)
        folder.mkdir(parents=True, exist_ok=True)
        text = cri(lines, datetime.now(UTC))
        for container in pod["spec"]["containers"]:
            (folder / f"{container['name']}.log").write_text(text)

    def append(self, pod: Object, line: str) -> None:
        """Add a line to the log of a pod's first container: what a simulated operator has to say."""
        file = self.folder(pod) / f"{pod['spec']['containers'][0]['name']}.log"
        if not file.exists():
            self.set_lines(pod, workload.introduction(pod))
        with file.open("a") as stream:
            stream.write(cri([line], datetime.now(UTC)))

    def serve(self, pod: Object) -> None:
        """Serve the log of a pod before its end: the queue of a large cluster's pods may be longer than a job."""
        self._publish(key_of(pod))

    def _publish(self, key: Key) -> None:
        namespace, name = key
        pod = self._runtime.pods.get(name, namespace)
        if pod is None or pods.deleting(pod):
            return
        meta = pod["metadata"]
        folder = self.folder(pod)
        if not folder.exists():
            self.set_lines(pod, (*workload.introduction(pod), *_first_lines(pod, self._runtime)))
        self._published[key] = meta["uid"]
        if not self._served:
            return
        owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": meta["uid"]}
        containers = [container["name"] for container in pod["spec"]["containers"]]
        entries = [
            {"containers": [container], "logsFile": str(folder / f"{container}.log"), "follow": False}
            for container in containers
        ]
        body = manifest(LOGS, name, namespace, owners=[owner], spec={"logs": entries})
        try:
            self._runtime.kubelet.apply(LOGS, body)
        except ApiError as error:
            if error.missing and "could not find the requested resource" in error.message:
                self._served = False
                log.warning("%s: pod logs are in files only", error)
            elif not (error.missing or error.forbidden):
                raise


def _first_lines(pod: Object, runtime: Runtime) -> tuple[str, ...]:
    """Return what the GPU device plugin prints when it starts; none of other pods."""
    if not gpus.is_plugin(pod):
        return ()
    node = pods.node_name(pod)
    has_driver = gpus.has_driver(runtime.nodes.get(node), runtime.running_on(node))
    tag = pods.image(pod).partition("@")[0].rpartition("/")[2].partition(":")[2]
    return tuple(device_plugin_log(tag, datetime.now(UTC), has_driver=has_driver))
