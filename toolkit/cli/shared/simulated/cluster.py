"""The simulated cluster of a stack, as commands need it: whether it runs, what of it has died, where its state goes."""

from collections.abc import Iterator
from pathlib import Path

from toolkit.cli.shared.backends import choice
from toolkit.cli.shared.backends.backend import CLUSTER_SERVER
from toolkit.cli.shared.console import Reporter
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.simulated import backend, release, spec
from toolkit.cli.shared.stack import Stack
from toolkit.simulator import cluster
from toolkit.simulator import start as starting
from toolkit.simulator import state as states
from toolkit.simulator.cluster import Cluster as Started
from toolkit.simulator.home import TEMPORARY, Layout
from toolkit.simulator.processes import Processes
from toolkit.simulator.status import ClusterStatus


def needed_tools(stack: Stack) -> tuple[str, ...]:
    """Return the programs that the cluster of a stack consists of."""
    return tuple(starting.needed_tools(spec.of(stack)))


def start(stack: Stack) -> Started:
    """Start what does not run of a stack's cluster, and make the place of its state; raise Problem as `fitting`."""
    started = cluster.up(release.fitting(stack), progress=Reporter())
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
        choice.require(backend.readable(value))  # before it is noted: a wrong one would be in the way of the right one
    backend.record(stack.home, value)
