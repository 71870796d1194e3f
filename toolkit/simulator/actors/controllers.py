"""Real controllers: each is a process that lives while the pod runs that it is the program of."""

import ctypes
import logging
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from core.apis import kinds
from core.files import write_atomically
from toolkit.simulator import names
from toolkit.simulator.actors.api import ApiError, Object
from toolkit.simulator.actors.podactor import PodActor
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.api import kubeconfig_text
from toolkit.simulator.home import Layout
from toolkit.simulator.processes import ports

log = logging.getLogger(__name__)

STOP_SECONDS = 5
PROBE_SECONDS = 0.2

_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


class Controller(PodActor):
    """Runs a tool with a kubeconfig of the pod's service account; its output is the pod's log."""

    _process: subprocess.Popen[str] | None = None

    @property
    def tool(self) -> str:
        """The command, of `toolkit.engine.tools`."""
        raise NotImplementedError

    @property
    def port(self) -> int | None:
        """Where it serves webhooks on loopback: the pod is ready once it does. None: ready at once."""
        return None

    @property
    def pod_port(self) -> int | None:
        """Where its pod serves them in the cluster. None: nowhere, as they are called on loopback."""
        return None

    def command(self, kubeconfig: Path) -> Sequence[str | Path]:
        """Return the arguments of the tool; raise ApiError for what the cluster does not give yet."""
        raise NotImplementedError

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables that its container has."""
        return {}

    def accompany(self) -> None:
        """Do beside the process what the cluster does for a container; refusals end it."""

    def start(self) -> None:
        """Start the process in the background: the token may have to be requested more than once."""
        threading.Thread(target=self._run, name=self.tool, daemon=True).start()

    def stop(self) -> None:
        """Stop the process and wait for its end, at most a few seconds."""
        super().stop()
        self.runtime.listening.pop(self._address, None)
        if process := self._process:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()

    @property
    def folder(self) -> Path:
        """Where files of the process are."""
        return self.runtime.settings.home / "data" / f"{self.tool}-{self.pod['metadata']['uid']}"

    def certificates(self, folder: Path) -> Path:
        """Return a folder with the certificate that everything here serves loopback with, called as Go commands do."""
        pki = Layout(self.runtime.settings.home).pki
        for name, file in (("tls.crt", "server.crt"), ("tls.key", "server.key")):
            write_atomically(folder / name, (pki / file).read_bytes())
        return folder

    def _run(self) -> None:
        binary = self.runtime.settings.tools.get(self.tool)
        if binary is None:
            self._ended(1, f"the simulated cluster was started without the {self.tool} tool")
            return
        command = self._prepared()
        if command is None:
            return
        self._process = subprocess.Popen(
            [binary, *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={"PATH": os.environ.get("PATH", ""), "GOGC": "50", "TMPDIR": str(self.folder), **self.environment},
            cwd=self.folder,
            # A killed process of the actors must not leave a second controller behind. Nothing but one system call
            # happens between fork and exec, on a library that is loaded already.
            preexec_fn=die_with_parent,  # noqa: PLW1509
        )
        threading.Thread(target=self._accompanied, name=f"beside {self.tool}", daemon=True).start()
        if self.port is not None:
            threading.Thread(target=self._probe, args=(self.port,), name=f"probe of {self.tool}", daemon=True).start()
        last = self._follow(self._process)
        self._kubeconfig.unlink(missing_ok=True)
        if not self.stopped.is_set():
            self._ended(self._process.wait(), last)

    def _prepared(self) -> Sequence[str | Path] | None:
        """Return the arguments once the token and what they are made of are there; None when the pod ends before."""
        while not self.stopped.is_set():
            try:
                token = self.api.token()
                self.folder.mkdir(parents=True, exist_ok=True)
                server = self.runtime.server
                text = kubeconfig_text(
                    cluster=self.tool, server=server.host, ca=server.ca.encode(), user="operator", token=token
                )
                write_atomically(self._kubeconfig, text)
                return self.command(self._kubeconfig)
            except ApiError as error:
                log.warning("%s", error)
                self.stopped.wait(1)
        return None

    @property
    def _kubeconfig(self) -> Path:
        return self.folder / "kubeconfig"

    def _follow(self, process: subprocess.Popen[str]) -> str:
        last = ""
        assert process.stdout is not None  # noqa: S101 - it was opened as a pipe
        for line in process.stdout:
            last = line.rstrip()
            self.log_line(last)
            if "forbidden" in last:
                log.warning("%s: %s", self.tool, last)
        return last

    def _accompanied(self) -> None:
        try:
            self.accompany()
        except ApiError as error:
            log.warning("%s: %s", self.tool, error)

    def _probe(self, port: int) -> None:
        """Let the pod be ready once the process listens."""
        while ports.is_free(port):
            if self.stopped.wait(PROBE_SECONDS):
                return
        if self.pod_port is not None:
            self.runtime.listening[self._address] = port
        self._annotate({names.UNREADY: None})

    @property
    def _address(self) -> tuple[str, int]:
        return str((self.pod.get("status") or {}).get("podIP")), self.pod_port or 0

    def _ended(self, code: int, why: str) -> None:
        log.warning("%s ended with %d: %s", self.tool, code, why)
        end_container(self.runtime, self.pod, code or 1, why)

    def _annotate(self, changes: dict[str, str | None]) -> None:
        _annotate(self.runtime, self.pod, changes)


def end_container(runtime: Runtime, pod: Object, code: int, why: str) -> None:
    """Let the container end, and so be restarted by the kubelet: the cause is in the termination message."""
    changes = {names.EXIT_CODE: str(code), names.RUN_FOR: "0s", names.TERMINATION_MESSAGE: why[-1000:]}
    _annotate(runtime, pod, {**changes})


def _annotate(runtime: Runtime, pod: Object, changes: dict[str, str | None]) -> None:
    meta = pod["metadata"]
    try:
        runtime.kubelet.annotate(kinds.POD, meta["name"], changes, meta["namespace"])
    except ApiError as error:
        log.warning("%s", error)


def die_with_parent() -> None:
    """Have a child get SIGTERM when its parent ends: for `preexec_fn`."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
