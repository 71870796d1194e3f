"""Simulated clusters: start, stop, remove and inspect one. All of a cluster is below its home."""

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core import simulated
from core.files import locked
from core.progress import SILENT, Progress
from toolkit.engine.errors import SimulatorError
from toolkit.simulator.home import Layout
from toolkit.simulator.processes.supervisor import Processes
from toolkit.simulator.start import start
from toolkit.simulator.state import ClusterSpec, NodeSpec
from toolkit.simulator.status import ClusterStatus, inspect

__all__ = ["Cluster", "ClusterSpec", "ClusterStatus", "NodeSpec", "clean", "down", "status", "up"]

_ROOM = 256 * 2**20
"""Bytes: etcd allocates a log of 64 MB, grows with the events of a day, and ends when it cannot write."""


@dataclass(frozen=True)
class Cluster:
    """A running cluster; `started` names the processes that this call had to start."""

    name: str
    home: Path
    server: str
    started: tuple[str, ...]

    @property
    def kubeconfig(self) -> Path:
        """The user's kubeconfig."""
        return Layout(self.home).kubeconfig

    @property
    def context(self) -> str:
        """The kubeconfig's one context."""
        return simulated.context_name(self.name)

    @property
    def reused(self) -> bool:
        """True when everything ran already."""
        return not self.started


def up(spec: ClusterSpec, home: Path | None = None, progress: Progress | None = None) -> Cluster:
    """Start the cluster of `spec`, in `home` or where its name says, or repair one that runs in part.

    Data, API port and Pulumi state of an earlier start are used again. Raises SimulatorError, with what to do,
    when a tool cannot be made, a process does not start, the port is taken, or another start or stop is at work.
    """
    layout = _layout(home, spec.name)
    _require_space(layout)
    try:
        with _exclusive(layout):
            state, started = start(spec, layout, progress or SILENT)
    except OSError as error:
        raise _cannot_write(error, layout) from error
    return Cluster(name=spec.name, home=layout.home, server=state.server, started=started)


def down(home: Path) -> tuple[str, ...]:
    """Stop the processes of the cluster in `home`, these alone; keep its data. Return the names of those that ran."""
    layout = Layout(home.absolute())
    if not layout.home.exists():
        return ()
    with _exclusive(layout):
        return Processes(layout.home).stop()


def clean(home: Path) -> tuple[str, ...]:
    """Stop the cluster in `home` and remove all of it: data, port and Pulumi state. Return who ran."""
    layout = Layout(home.absolute())
    if not layout.home.exists():
        return ()
    if not _is_home(layout):
        raise SimulatorError(f"{layout.home} does not look like a simulated cluster's home, so it is left alone.")
    with _exclusive(layout):
        stopped = Processes(layout.home).stop()
        try:
            shutil.rmtree(layout.home)
        except OSError as error:
            if error.errno != errno.ENOTEMPTY:
                raise
            layout.lock.touch()  # so that the next try knows the folder as a cluster's
            raise SimulatorError(
                f"{layout.home} is not removed: another command still writes there. Run this again when it has ended."
            ) from error
    return stopped


def status(home: Path) -> ClusterStatus:
    """Return how the cluster in `home` is; never fails on a cluster that is stopped, or not there."""
    return inspect(Layout(home.absolute()))


def _layout(home: Path | None, name: str) -> Layout:
    return Layout((home or simulated.home(name)).absolute())


def _require_space(layout: Layout) -> None:
    existing = next(folder for folder in (layout.home, *layout.home.parents) if folder.is_dir())
    free = shutil.disk_usage(existing).free
    if free < _ROOM:
        raise SimulatorError(
            f"only {free // 2**20} MiB are free on the disk of {existing}, and a cluster takes {_ROOM // 2**20}:"
            " make room, or set HPC_SIM_HOME to a folder elsewhere."
        )


def _cannot_write(error: OSError, layout: Layout) -> SimulatorError:
    if error.errno == errno.ENOSPC:
        return SimulatorError(
            f"the disk of {layout.home} is full: make room, or set HPC_SIM_HOME to a folder elsewhere."
        )
    return SimulatorError(f"cannot start a cluster in {layout.home}: {error}. HPC_SIM_HOME moves it elsewhere.")


def _is_home(layout: Layout) -> bool:
    parts = (layout.state, layout.pki, layout.home / "pids.json", layout.lock, layout.backend)
    return any(part.exists() for part in parts) or not any(layout.home.iterdir())


@contextmanager
def _exclusive(layout: Layout) -> Iterator[None]:
    def busy(holder: str) -> None:
        raise SimulatorError(
            f"process {holder or '(unknown)'} is starting or stopping the simulated cluster in {layout.home}:"
            " wait until it has ended, then try again."
        )

    with locked(layout.lock, on_busy=busy):
        yield
