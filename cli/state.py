"""The state of a stack: whether it fits a simulated cluster, and what a killed update left in it."""

from pathlib import Path
from typing import Any

from cli import checkpoints, layers, neighbours
from cli.backends import choice
from cli.backends.backend import Backend
from cli.backends.tags import SERVER
from cli.console import console
from cli.engine import Engine
from cli.errors import Problem
from cli.events import short
from cli.live import Cluster
from cli.recovery import Live, Recovery, recover
from cli.stack import Stack
from simulator import state as states
from simulator.home import Layout

_CREATES = ("create", "create-replacement")
_PLANNED = ("urn", "type", "custom", "parent", "provider", "inputs", "protect", "retainOnDelete")
"""What the state keeps of a resource, and a preview tells; the next update writes down the rest."""
_SHOWN = 3  # objects that a message names


def require_cluster_of_state(stack: Stack) -> None:
    """Raise Problem when the state has objects and the data of the cluster that had them is gone."""
    if not stack.simulated or Layout(stack.home).etcd.is_dir() or not _resources(stack):
        return
    raise Problem(
        f"the state of stack {stack.name} has objects of a cluster whose data is gone ({Layout(stack.home).etcd})",
        f"`./hpc sim clean --name {stack.cluster_name}` removes both, and the next "
        f"`./hpc up {stack.options}` starts afresh."
        if choice.within(stack.home)
        else f"It is in {choice.recorded(stack.home)}: `./hpc pulumi {stack.options} stack rm {stack.name} --force` "
        f"takes it from there, and the next `./hpc up {stack.options}` starts afresh.",
    )


def require_own_cluster(stack: Stack) -> None:
    """Raise Problem when another stack has objects on the stack's simulated cluster; layers of one environment may.

    The nodes would become those of this stack, under what the other has there, and what both declare has two owners.
    """
    if not stack.simulated and stack.chosen is None:
        return
    backend = choice.of_cluster(stack.home)
    for other in backend.stacks():
        if other in layers.together(stack) or not _is_on(stack.home, backend, other):
            continue
        name = stack.cluster_name
        raise Problem(
            f"the simulated cluster {name} has stack {other} on it, and takes one stack at a time",
            f"Give stack {stack.name} a cluster of its own (`--name` and another name), or take {other} off this one: "
            f"`./hpc down --stack {other} --name {name}`, or `./hpc sim clean --name {name}` with the cluster. "
            f"If you mean {other}, say `--stack {other}`.",
        )


def require_unprotected(stack: Stack) -> None:
    """Raise Problem when the state has protected objects: the engine would list each, and delete none at all."""
    kept = [short(resource["urn"]) for resource in _resources(stack) if resource.get("protect")]
    if kept:
        more = f" and {len(kept) - _SHOWN} more" if len(kept) > _SHOWN else ""
        raise Problem(
            f"stack {stack.name} protects {', '.join(kept[:_SHOWN])}{more}",
            f"`./hpc sim clean --name {stack.cluster_name}` removes the cluster with all of it; to take only the stack "
            f"off it, set `protect: false` in {stack.platform_file.name}, run `./hpc up {stack.options}`, then this.",
        )


def settle(stack: Stack, engine: Engine, cluster: Cluster) -> None:
    """Put right what a killed update left behind, where the state can be read."""
    if (backend := stack.backend) is not None:
        repair(stack.name, backend, engine, cluster.find)


def repair(stack: str, backend: Backend, engine: Engine, live: Live, *, thorough: bool = False) -> bool:
    """Remove the lock of a dead process, and settle creates that nobody saw end; return whether there was any of it.

    `thorough`: ask the engine what it would create, too, and take what is there already: where the network lost the
    answer to a create, only this finds it. Raises Problem when a living process holds the lock, or one of another host,
    which may live.
    """
    released = backend.release(stack)
    for lock in released:
        console.print(f"removed the lock of process {lock.pid}, which is dead (since {lock.timestamp})", markup=False)
    planned = _planned(engine) if thorough else []
    if not planned and not backend.checkpoint(stack).get("pending_operations"):
        return bool(released)
    before = checkpoints.read(engine, backend)
    found = recover(before.document, live, planned, neighbours.of(stack, backend))
    if not found.changed:
        return bool(released)
    _tell(found)
    checkpoints.write(engine, backend, before, found.deployment)
    return True


def _tell(found: Recovery) -> None:
    for urn in found.taken:
        console.print(f"interrupted: {short(urn)} is on the cluster, and now in the state", markup=False)
    for urn in found.cleared:
        what = "belongs to somebody else" if urn in found.foreign else "is done again where needed"
        console.print(f"interrupted: {short(urn)} {what}", markup=False)


def _planned(engine: Engine) -> list[dict[str, Any]]:
    """Return the resources that the next update would create, as far as a preview tells; secrets in them are masked."""
    status, events, last = engine.told("what the next update would create", "preview")
    steps = [event["resourcePreEvent"]["metadata"] for event in events if "resourcePreEvent" in event]
    wanted = [step["new"] for step in steps if step["op"] in _CREATES and step.get("new")]
    if status != 0 and not steps:
        raise Problem(f"what the next update would create cannot be told:\n{last}")
    return [{key: new[key] for key in _PLANNED if key in new} for new in wanted if new.get("custom")]


def _resources(stack: Stack) -> list[dict[str, Any]]:
    backend = stack.backend
    return (backend.checkpoint(stack.name).get("resources") or []) if backend else []


def _is_on(home: Path, backend: Backend, other: str) -> bool:
    """Whether a stack has objects on a cluster; a backend outside its home may have stacks of many clusters."""
    if not choice.within(home):
        known = states.load(Layout(home))
        if known is None or backend.tags(other).get(SERVER) != known.server:
            return False
    return bool(backend.checkpoint(other).get("resources"))
