"""Node Feature Discovery's workers, the real ones: each reads the files of its node, and publishes a NodeFeature."""

import hashlib
import json
import logging
import os
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from core.files import write_atomically
from toolkit.engine.tools.versions import NFD
from toolkit.simulator import names, pods
from toolkit.simulator.actors import features, host_files, images, mig
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.controllers import end_container
from toolkit.simulator.actors.devices import MIG_STRATEGY
from toolkit.simulator.actors.informer import Key, Loop
from toolkit.simulator.actors.nfd_master import CONFIGURATION, WORKER
from toolkit.simulator.actors.podlogs import PodLogs
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.api import kubeconfig_text

log = logging.getLogger(__name__)

TOOL = "nfd-workers"
CONFIG = "etc/kubernetes/node-feature-discovery/nfd-worker.conf"
"""Where a worker has its configuration, and host_files.FEATURES what GPU feature discovery left there."""
GPU_FEATURES = f"{host_files.FEATURES}/gfd"
RELEVANT = images.NFD_OPERANDS | images.GPU_PLUGINS


class NfdWorkers:
    """Has one process of the real worker discover node after node: when a node's worker starts, and its files change.

    The real one looks again every minute. That of 2020 also reads its configuration again when that changes.
    """

    def __init__(self, runtime: Runtime, logs: PodLogs) -> None:
        self._runtime = runtime
        self._logs = logs
        self._loop = Loop("workers of Node Feature Discovery", self._discover)
        self._folder = runtime.settings.home / "data" / TOOL
        self._process: subprocess.Popen[str] | None = None
        self._done: dict[Key, tuple[object, ...]] = {}
        """Worker -> the container and the files of its last discovery."""
        self._configured: dict[str, tuple[int, str]] = {}
        """UID of a worker's pod -> restarts, and the configuration that it read when it started."""

    def start(self) -> None:
        """Follow the workers, what leaves labels for them, their configuration and their nodes."""
        self._loop.start()
        self._runtime.pods.on_change(self._pod_changed)
        self._runtime.nodes.on_change(self._node_changed)
        self._runtime.config_maps.on_change(self._configuration_changed)

    def _pod_changed(self, key: Key, old: Object | None, pod: Object | None) -> None:
        version = pod or old or {}
        if pods.basename(pods.image(version)) not in RELEVANT:
            return
        if _is_worker(version):
            self._loop.add(key)
        else:
            self._add(self._runtime.running_on(pods.node_name(version)))

    def _node_changed(self, key: Key, old: Object | None, node: Object | None) -> None:
        if node is not None and (old is None or _relevant(old) != _relevant(node)):
            self._add(self._runtime.running_on(key[1]))

    def _configuration_changed(self, key: Key, _old: Object | None, _new: Object | None) -> None:
        if key[1] == WORKER:
            self._add(pod for pod in self._runtime.pods.items() if pod["metadata"]["namespace"] == key[0])

    def _add(self, changed: Iterable[Object]) -> None:
        for pod in changed:
            if _is_worker(pod):
                self._loop.add((pod["metadata"]["namespace"], pod["metadata"]["name"]))

    def _discover(self, key: Key) -> None:
        pod = self._runtime.pods.get(key[1], key[0])
        node = self._runtime.nodes.get(pods.node_name(pod)) if pod else None
        if pod is None or node is None or not pods.runs(pod):
            self._done.pop(key, None)
            return
        configuration = self._configuration(pod)
        if configuration is None:
            return
        files = {**self._files(node), CONFIG: configuration}
        state = (pod["metadata"]["uid"], pods.restarts(pod), tuple(files.items()))
        if self._done.get(key) == state:
            return
        tool = self._runtime.settings.tools.get(TOOL)
        if tool is None:
            end_container(self._runtime, pod, 1, f"the simulated cluster was started without the {TOOL} tool")
            return
        if key not in self._done:
            self._logs.append(
                pod, f"real: nfd-worker {NFD} on simulated files, in place of the image {pods.image(pod)}"
            )
        answer = self._ask(tool, self._request(pod, self._tree(files)))
        self._done[key] = state
        for line in answer["log"].splitlines():
            self._logs.append(pod, line)
        if answer["error"]:
            end_container(self._runtime, pod, 1, answer["error"])

    def _files(self, node: Object) -> host_files.Files:
        runtime, profile = self._runtime, self._runtime.profile(node)
        kernel = str(((node.get("status") or {}).get("nodeInfo") or {}).get("kernelVersion", ""))
        files = {
            **host_files.of_node(profile, kernel=kernel, release=runtime.settings.openshift or runtime.settings.release)
        }
        for pod in runtime.running_on(node["metadata"]["name"]):
            if pods.basename(pods.image(pod)) in images.GPU_PLUGINS and images.FEATURE_DISCOVERY in pods.command(pod):
                strategy = pods.variable(pod, MIG_STRATEGY) or "none"
                clique = pods.annotations(node).get(names.NVLINK_CLIQUE)
                labels = features.gpu_labels(profile, strategy, mig.layout(profile, node), clique)
                files[GPU_FEATURES] = "".join(f"{name}={value}\n" for name, value in labels.items())
        return files

    def _configuration(self, pod: Object) -> str | None:
        """Return what a worker reads; "" where it mounts no ConfigMap, None where that is not there to be mounted."""
        uid, restarts = pod["metadata"]["uid"], pods.restarts(pod)
        at_start = self._configured.get(uid)
        if at_start and at_start[0] == restarts and pods.basename(pods.image(pod)) in images.NFD_OPERANDS_TODAY:
            return at_start[1]
        if not any("configMap" in volume for volume in pod["spec"].get("volumes") or []):
            return ""
        config_map = self._runtime.config_maps.get(WORKER, pod["metadata"]["namespace"])
        if config_map is None:
            return at_start[1] if at_start else None
        text: str = (config_map.get("data") or {}).get(CONFIGURATION, "")
        self._configured[uid] = (restarts, text)
        return text

    def _tree(self, files: host_files.Files) -> Path:
        """Return a folder with the files; nodes of one kind share it."""
        root = self._folder / hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:16]
        if not root.exists():
            self._folder.mkdir(parents=True, exist_ok=True)
            made = Path(tempfile.mkdtemp(dir=self._folder))
            write_tree(files, made)
            made.rename(root)
        return root

    def _request(self, pod: Object, root: Path) -> dict[str, str]:
        server, meta = self._runtime.server, pod["metadata"]
        # The token is bound to the pod; the process asks for one node at a time, so one file does.
        kubeconfig = self._folder / "kubeconfig"
        token = self._runtime.token(pod)
        text = kubeconfig_text(cluster=TOOL, server=server.host, ca=server.ca.encode(), user=WORKER, token=token)
        write_atomically(kubeconfig, text)
        return {
            "node": pods.node_name(pod),
            "namespace": meta["namespace"],
            "pod": meta["name"],
            "uid": meta["uid"],
            "root": str(root),
            "config": CONFIG,
            "kubeconfig": str(kubeconfig),
        }

    def _ask(self, tool: Path, request: dict[str, str]) -> dict[str, str]:
        if self._process is None or self._process.poll() is not None:
            self._process = start(tool)
        return ask(self._process, request)


def start(tool: Path) -> subprocess.Popen[str]:
    """Start the program that runs workers; it ends with its standard input, so with this process."""
    environment = {"PATH": os.environ.get("PATH", ""), "GOGC": "50"}
    return subprocess.Popen(
        [tool], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=None, text=True, env=environment
    )


def ask(process: subprocess.Popen[str], request: dict[str, str]) -> dict[str, str]:
    """Have one node discovered; return what the worker logged, and its error. Raises OSError when the program ended."""
    assert process.stdin is not None  # noqa: S101 - both are pipes
    assert process.stdout is not None  # noqa: S101
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        raise OSError(f"{TOOL} ended with {process.wait()}")
    answer: dict[str, str] = json.loads(line)
    return answer


def write_tree(files: host_files.Files, root: Path) -> None:
    """Write files, and empty folders, below a folder."""
    for path, text in files.items():
        target = root / path
        if path.endswith("/"):
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


def _is_worker(pod: Object) -> bool:
    return pods.basename(pods.image(pod)) in images.NFD_OPERANDS and WORKER in pods.command(pod)


def _relevant(node: Object) -> object:
    """Return what of a node decides its files."""
    notes = pods.annotations(node)
    kept = (names.PROFILE, names.MACHINE, names.PORTS, names.MIG_CONFIG)
    return [notes.get(name) for name in kept], (node.get("status") or {}).get("nodeInfo")
