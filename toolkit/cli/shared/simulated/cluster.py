"""The simulated cluster of a stack, as commands need it: what of it runs, its memory, its servers, its backend."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from toolkit.cli.shared.backends.backend import CLUSTER_SERVER, require_reachable
from toolkit.cli.shared.console import Reporter
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.simulated import backend, spec
from toolkit.cli.shared.stack import Stack
from toolkit.simulator import cluster
from toolkit.simulator import start as starting
from toolkit.simulator import state as states
from toolkit.simulator.access import accounts
from toolkit.simulator.access.accounts import Account
from toolkit.simulator.access.pki import Pki
from toolkit.simulator.cluster import Cluster as Started
from toolkit.simulator.home import TEMPORARY, Layout
from toolkit.simulator.processes import procfs
from toolkit.simulator.processes.supervisor import Processes
from toolkit.simulator.state import State
from toolkit.simulator.status import ClusterStatus

_PERIOD = 1.0  # seconds; a sample reads /proc once and takes some 10 ms
MIB = 1024 * 1024


class Server(NamedTuple):
    """Where a server is, who may ask it, and the certificate that it is trusted by."""

    host: str
    account: Account
    ca: Path


def server(stack: Stack, host: Callable[[State], str | None], account: Callable[[Layout], Path]) -> Server | None:
    """Return a server of a stack's simulated cluster; None for one without that server."""
    layout = Layout(stack.home)
    cluster_state, credentials = states.load(layout), accounts.read(account(layout))
    place = host(cluster_state) if cluster_state else None
    return Server(place, credentials, Pki(layout.pki).ca) if place and credentials else None


def resident(home: Path) -> int:
    """Return the bytes that all processes of a cluster have now (pages that they share count for each)."""
    processes = Processes(home)
    pids = {pid for record in processes.running().values() for pid in processes.members(record)}
    return sum(procfs.memory(pid)[0] for pid in pids)


class Peak:
    """The highest sum of resident memory seen during a block, in bytes."""

    def __init__(self, home: Path) -> None:
        self.bytes = 0
        self._home, self._stop = home, threading.Event()
        self._thread = threading.Thread(target=self._sample, name="memory", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()

    def _sample(self) -> None:
        while True:
            self.bytes = max(self.bytes, resident(self._home))
            if self._stop.wait(_PERIOD):
                return


def needed_tools(stack: Stack) -> tuple[str, ...]:
    """Return the programs that the cluster of a stack consists of."""
    return tuple(starting.needed_tools(spec.of(stack)))


def start(stack: Stack) -> Started:
    """Start what does not run of a stack's cluster, and make the place of its state; raise Problem as `fitting`."""
    started = cluster.up(spec.fitting(stack), progress=Reporter())
    backend.make_store(stack.home)
    return started


def require_started(stack: Stack) -> None:
    """Raise Problem for a cluster that does not run."""
    if (state := cluster.status(stack.home).state) in ("absent", "stopped"):
        raise Problem(
            f"the simulated cluster {stack.cluster_name} is {state}",
            f"`./hpc up {stack.options}` starts it and brings the stack up; `./hpc sim up {stack.options}` "
            "only starts it.",
        )


def runs(home: Path) -> bool:
    """Whether any process of a cluster runs."""
    return bool(Processes(home).running())


def temporary(home: Path) -> Path:
    """Return the folder with temporary files of a cluster, which is made where it is not there."""
    folder = home / TEMPORARY
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def data(home: Path) -> Path:
    """Return the folder with a cluster's objects."""
    return Layout(home).etcd


def stacks(home: Path) -> Iterator[str]:
    """Yield the stacks that have objects on a cluster; a backend outside its home may have stacks of many clusters."""
    store = backend.of_cluster(home)
    for stack in store.stacks():
        if not backend.within(home):
            state = states.load(Layout(home))
            if state is None or store.tags(stack).get(CLUSTER_SERVER) != state.server:
                continue
        if store.resources(stack):
            yield stack


def failure(stack: Stack) -> str:
    """Return which processes of the stack's cluster have died, as `dead`."""
    return dead(cluster.status(stack.home), stack)


def dead(status: ClusterStatus, stack: Stack) -> str:
    """Return which processes of a cluster have died, with what to do; nothing when all of them run."""
    names = [process.name for process in status.processes if not process.alive]
    if not names:
        return ""
    which = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} dead"
    return f"simulated cluster {status.name}: {which}; `./hpc sim up {stack.options}` starts what is missing"


def choose_backend(stack: Stack, where: str) -> None:
    """Note with which backend a cluster is created; raise Problem where there is a state in another one."""
    value, now = backend.checked(where), backend.recorded(stack.home)
    if value == now:
        return
    current = backend.of_cluster(stack.home)
    kept = current.stacks() if backend.within(stack.home) else [stack.name] * current.has(stack.name)
    if kept:
        raise Problem(
            f"simulated cluster {stack.cluster_name} has the state of {', '.join(kept)} in {now or 'its folder'}, and "
            f"--backend is {value}",
            f"Omit --backend; or `./hpc sim clean --name {stack.cluster_name}` and start again; or use another "
            "cluster (`--name`).",
        )
    if value != backend.SIMULATED:
        require_reachable(
            backend.readable(value)
        )  # before it is noted: a wrong one would be in the way of the right one
    backend.record(stack.home, value)
