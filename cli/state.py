"""The state of a stack on a simulated cluster: whether it fits the cluster, and what a killed update left in it."""

import json
import tempfile
from pathlib import Path
from typing import Any

from cli import locks
from cli.console import console
from cli.engine import Engine
from cli.errors import Problem
from cli.events import short
from cli.live import Cluster
from cli.recovery import recover
from cli.stack import Stack
from simulator import state as states
from simulator.home import Layout

_SHOWN = 3  # objects that a message names


def require_cluster_of_state(stack: Stack) -> None:
    """Raise Problem when the state has objects and the data of the cluster that had them is gone."""
    if not stack.simulated or Layout(stack.home).etcd.is_dir() or not _checkpoint(stack).get("resources"):
        return
    raise Problem(
        f"the state of stack {stack.name} has objects of a cluster whose data is gone ({Layout(stack.home).etcd})",
        f"`./hpc sim clean --name {stack.cluster_name}` removes both, and the next `./hpc up` starts afresh.",
    )


def require_same_generation(stack: Stack) -> None:
    """Raise Problem when the stack's simulated cluster is there and was made for another release than is wanted now.

    What serves it, admits its pods and runs its jobs would change under what is on it.
    """
    if not stack.simulated and stack.chosen is None:
        return
    wanted, made = stack.spec(), states.load(Layout(stack.home))
    if made is None or (made.spec.release, made.spec.mpi) == (wanted.release, wanted.mpi):
        return
    raise Problem(
        f"the simulated cluster {stack.cluster_name} was made with the constraints of release {made.spec.release} and "
        f"MPIJob {made.spec.mpi}; stack {stack.name} (release {stack.settings.release}) wants {wanted.release} and "
        f"{wanted.mpi}",
        f"`./hpc sim clean --name {stack.cluster_name}` removes it with all that is on it, or work on another cluster "
        "(`--name`).",
    )


def require_unprotected(stack: Stack) -> None:
    """Raise Problem when the state has protected objects: the engine would list each, and delete none at all."""
    kept = [short(resource["urn"]) for resource in _checkpoint(stack).get("resources") or () if resource.get("protect")]
    if kept:
        name = f" --name {stack.chosen}" if stack.chosen else ""
        more = f" and {len(kept) - _SHOWN} more" if len(kept) > _SHOWN else ""
        raise Problem(
            f"stack {stack.name} protects {', '.join(kept[:_SHOWN])}{more}",
            f"`./hpc sim clean --name {stack.cluster_name}` removes the cluster with all of it; to take only the stack "
            f"off it, set `protect: false` in {stack.file.name}, run `./hpc up --stack {stack.name}{name}`, then this.",
        )


def settle(stack: Stack, engine: Engine, cluster: Cluster) -> None:
    """Put right what a killed update left behind: a lock of a dead process, creates that nobody saw end."""
    if not stack.simulated:
        return
    for lock in locks.release(stack.backend.locks(stack.name)):
        console.print(f"removed the lock of process {lock.pid}, which is dead (since {lock.timestamp})", markup=False)
    if not _checkpoint(stack).get("pending_operations"):
        return
    found = recover(json.loads(engine.call("stack", "export", "--stack", stack.name)), cluster.find)
    for urn in found.taken:
        console.print(f"interrupted: {short(urn)} is on the cluster, and now in the state", markup=False)
    for urn in found.cleared:
        what = "belongs to somebody else" if urn in found.foreign else "is done again where needed"
        console.print(f"interrupted: {short(urn)} {what}", markup=False)
    with tempfile.TemporaryDirectory(prefix="hpc-state-") as folder:
        file = Path(folder) / "state.json"
        file.write_text(json.dumps(found.deployment))
        engine.call("stack", "import", "--stack", stack.name, "--file", str(file))


def _checkpoint(stack: Stack) -> dict[str, Any]:
    try:
        content = json.loads(stack.backend.checkpoint(stack.name).read_text())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise Problem(
            f"the state of stack {stack.name} is damaged: {error}",
            f"`./hpc sim clean --name {stack.cluster_name}` removes it together with its simulated cluster.",
        ) from None
    latest: dict[str, Any] = (content.get("checkpoint") or {}).get("latest") or {}
    return latest
