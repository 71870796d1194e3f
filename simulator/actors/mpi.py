"""The MPI operator: its real controller, as a process that lives while the operator's pod runs."""

import ctypes
import logging
import os
import signal
import subprocess
import threading
from collections.abc import Mapping

from apis import kinds
from simulator import kubeconfigs, names
from simulator.actors.api import ApiError
from simulator.actors.podactor import PodActor
from simulator.files import write_atomically
from simulator.spec import MpiGeneration

log = logging.getLogger(__name__)

FLAGS: Mapping[MpiGeneration, Mapping[str, str]] = {
    "v1alpha2": {"kubectl-delivery-image": "mpioperator/kubectl-delivery:latest"},
    "v2beta1": {"kube-api-qps": "5", "kube-api-burst": "10"},
}
"""Flags that the controllers here adopt from a container, with the controllers' own defaults."""
STOP_SECONDS = 5

_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


def own_flags(generation: MpiGeneration, arguments: list[str]) -> list[str]:
    """Return the flags of a container that the real controller gets, in any of their four spellings.

    Only v1alpha2 delivers a kubectl; of v2beta1 it is how many requests a second it may make.
    """
    found = [_flag(arguments, name, default) for name, default in FLAGS[generation].items()]
    return [word for flag in found for word in flag]


def _flag(arguments: list[str], wanted: str, default: str) -> tuple[str, str]:
    for index, argument in enumerate(arguments):
        name, equals, value = argument.lstrip("-").partition("=")
        if argument.startswith("-") and name == wanted:
            return f"-{wanted}", value if equals else arguments[index + 1]
    return f"-{wanted}", default


class MpiOperator(PodActor):
    """Runs `mpi-operator` with a kubeconfig of the pod's service account; its output is the pod's log."""

    _process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start the process in the background: the token may have to be requested more than once."""
        threading.Thread(target=self._run, name="mpi-operator", daemon=True).start()

    def stop(self) -> None:
        """Stop the process and wait for its end, at most a few seconds."""
        super().stop()
        if process := self._process:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()

    def _run(self) -> None:
        binary = self.runtime.settings.mpi_operator
        if binary is None:
            self._ended(1, "the simulated cluster was started without the mpi-operator tool")
            return
        while not self.stopped.is_set():
            try:
                token = self.api.token()
                break
            except ApiError as error:
                log.warning("%s", error)
                self.stopped.wait(1)
        else:
            return
        container = self.pod["spec"]["containers"][0]
        arguments = [*(container.get("command") or []), *(container.get("args") or [])]
        folder = self.runtime.settings.home / "data"
        folder.mkdir(exist_ok=True)
        kubeconfig = folder / f"mpi-operator-{self.pod['metadata']['uid']}.kubeconfig"
        server = self.runtime.server
        ca = server.ca.encode()
        text = kubeconfigs.text(cluster="mpi", server=server.host, ca=ca, user="operator", token=token)
        write_atomically(kubeconfig, text)
        self._process = subprocess.Popen(
            [binary, "-kubeconfig", kubeconfig, *own_flags(self.runtime.settings.mpi, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={"PATH": os.environ.get("PATH", ""), "GOGC": "50"},
            # A killed process of the actors must not leave a second controller behind. Nothing but one system call
            # happens between fork and exec, on a library that is loaded already.
            preexec_fn=_die_with_parent,  # noqa: PLW1509
        )
        last = self._follow(self._process)
        kubeconfig.unlink(missing_ok=True)
        if not self.stopped.is_set():
            self._ended(self._process.wait(), last)

    def _follow(self, process: subprocess.Popen[str]) -> str:
        last = ""
        assert process.stdout is not None  # noqa: S101 - it was opened as a pipe
        for line in process.stdout:
            last = line.rstrip()
            self.say(last)
            if "forbidden" in last:
                log.warning("mpi-operator: %s", last)
        return last

    def _ended(self, code: int, why: str) -> None:
        """Let the container end, and so be restarted by the kubelet: the cause is in the termination message."""
        log.warning("mpi-operator ended with %d: %s", code, why)
        changes: dict[str, str | None] = {
            names.EXIT_CODE: str(code or 1),
            names.RUN_FOR: "0s",
            names.TERMINATION_MESSAGE: why[-1000:],
        }
        try:
            self.runtime.kubelet.annotate(kinds.POD, self.pod["metadata"]["name"], changes, self.namespace)
        except ApiError as error:
            log.warning("%s", error)


def _die_with_parent() -> None:
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
