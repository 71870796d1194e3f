"""The runner of a performance suite: its script is really run, on this machine, with a real kubectl.

The client has a token of the pod's account, so what its Role lacks is refused as on a real cluster; the jobs that it
creates are simulated as all others. A pod with any other script than stacks/scripts/suite.sh is not run. Who creates a
pod also decides on its variables and files: the script gets the variables that it reads, in plain words, and nothing by
which a shell, a linker or the client would run something else. After a restart of the simulation a runner begins a
round again.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from core.apis import suite
from core.apis.names import SIMULATED
from core.project import PRODUCT
from toolkit.simulator import pods
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.informer import Key, key_of
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.actors.volumes import read_mounted
from toolkit.simulator.actors.workload import Outcome, introduction
from toolkit.simulator.api import kubeconfig_text

SCRIPT = PRODUCT / "stacks" / "scripts" / suite.SCRIPT
CLIENT = "kubectl"
"""The tool."""
POLL_SECONDS = "1"
"""Simulated jobs take about a second."""
VARIABLES = ("HPC_NAMESPACE", "HPC_SUITE", suite.REPEATS, "HPC_KEEP", "HPC_RESOURCES")
"""Variables of the pod that the script reads; the others that it needs are of this machine."""
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9.,-]*")
"""A name, a number or a list of them: neither an option of the client nor an expression of the shell."""


@cache
def _script() -> bytes:
    return SCRIPT.read_bytes()


@dataclass
class _Run:
    """One script that runs, or has ended."""

    process: "subprocess.Popen[str] | None" = None
    ended: Outcome | None = None
    stopped: bool = False


class SuiteRunners:
    """The scripts of pods; `wake` is called with a pod's key when its script has ended."""

    def __init__(self, runtime: Runtime, wake: Callable[[Key], None]) -> None:
        self._runtime = runtime
        self._wake = wake
        self._runs: dict[str, _Run] = {}
        self._lock = threading.Lock()

    def outcome(self, pod: Object) -> Outcome | None:
        """Return how a runner's pod ends, which has no end yet while its script runs; None for any other pod.

        The script starts when a pod is first seen.
        """
        if not self._is_runner(pod):
            return None
        uid = str(pod["metadata"]["uid"])
        with self._lock:
            run = self._runs.get(uid)
            if run is None:
                run = self._runs[uid] = _Run()
                threading.Thread(target=self._follow, args=(pod, run), name=f"suite {uid}", daemon=True).start()
        return run.ended or Outcome(None, introduction(pod), 0.0)

    def forget(self, pod: Object) -> None:
        """End the script of a pod that is gone."""
        with self._lock:
            run = self._runs.pop(str(pod["metadata"]["uid"]), None)
        if run is not None:
            run.stopped = True
            if run.process is not None and run.process.poll() is None:
                os.killpg(run.process.pid, signal.SIGTERM)

    def _is_runner(self, pod: Object) -> bool:
        path = f"{suite.FOLDER}/{suite.SCRIPT}"
        return pods.command(pod) == f"/bin/sh {path}" and read_mounted(self._runtime, pod, path) == _script()

    def _follow(self, pod: Object, run: _Run) -> None:
        first = f"{SIMULATED}: no container, but this machine runs the script, as account {pods.account(pod)}"
        try:
            code, lines = self._run(pod, run)
        except (OSError, RuntimeError) as error:
            code, lines = 1, [f"{SIMULATED}: the script cannot be run here: {error}"]
        lines = [*introduction(pod), first, *lines]
        run.ended = Outcome(code, tuple(lines), 0.0, lines[-1])
        if not run.stopped:
            self._wake(key_of(pod))

    def _run(self, pod: Object, run: _Run) -> tuple[int, list[str]]:
        client = self._runtime.settings.tools.get(CLIENT)
        if client is None:
            raise RuntimeError(f"this cluster was started without {CLIENT}; start it with the settings of the suite")
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            files = home / "files"
            for subfolder in (home / "bin", files):
                subfolder.mkdir()
            # The script takes oc where there is one, which must not be another of this machine's.
            (home / "bin" / "oc").symlink_to(client)
            config = home / "kubeconfig"
            config.touch(mode=0o600)
            config.write_text(self._kubeconfig(pod))
            for name, text in self._files(pod).items():
                (files / name).write_text(text)
            own = {
                "HOME": folder,
                "HPC_FOLDER": str(files),
                "HPC_POLL": POLL_SECONDS,
                "KUBECONFIG": str(config),
                "PATH": f"{home / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}",
            }
            run.process = subprocess.Popen(
                [shutil.which("sh") or "/bin/sh", SCRIPT],
                env={**_variables(pod), **own},
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                # Of the actors' session, with which it ends.
                process_group=0,
            )
            printed, _ = run.process.communicate()
            return run.process.returncode, printed.splitlines()

    def _files(self, pod: Object) -> Mapping[str, str]:
        volumes = {volume["name"]: volume.get("configMap") for volume in pod["spec"].get("volumes") or []}
        (source,) = (
            volumes[mount["name"]]
            for mount in pod["spec"]["containers"][0]["volumeMounts"]
            if mount["mountPath"] == suite.FOLDER
        )
        config_map = self._runtime.config_maps.get((source or {})["name"], pod["metadata"]["namespace"]) or {}
        files = {name: str(text) for name, text in (config_map.get("data") or {}).items()}
        for word in files.get(suite.PLAN, "").split():
            _check(word, suite.PLAN)
        return files

    def _kubeconfig(self, pod: Object) -> str:
        access = self._runtime.access()
        return kubeconfig_text(
            cluster="suite",
            server=access.server,
            ca=access.ca.encode(),
            user=pods.account(pod),
            token=self._runtime.token(pod),
        )


def _variables(pod: Object) -> dict[str, str]:
    """Return the variables of a runner's pod that its script reads."""
    entries = pod["spec"]["containers"][0].get("env") or []
    values = {entry["name"]: str(entry.get("value", "")) for entry in entries}
    return {name: _check(values[name], name) for name in VARIABLES if name in values}


def _check(word: str, place: str) -> str:
    if not _WORD.fullmatch(word):
        raise RuntimeError(f"{place}: {word!r} is no name, number or list of them; correct it in the suite's objects")
    return word
