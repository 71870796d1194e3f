"""Whether the state of a stack fits its cluster, and may be deleted."""

from pathlib import Path
from typing import Any

from core.wording import some
from toolkit.cli.shared import layers
from toolkit.cli.shared.backends import choice
from toolkit.cli.shared.backends.backend import Backend
from toolkit.cli.shared.backends.tags import SERVER
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack
from toolkit.review.titles import short
from toolkit.simulator import state as states
from toolkit.simulator.home import Layout

_SHOWN = 3  # objects that a message names


def require_cluster_of_state(stack: Stack) -> None:
    """Raise Problem when the state has objects and the data of the cluster that had them is gone."""
    if not stack.simulated or Layout(stack.home).etcd.is_dir() or not _resources(stack):
        return
    raise Problem(
        f"the state of stack {stack.name} has objects of a cluster whose data is gone ({Layout(stack.home).etcd})",
        f"`./hpc sim clean --name {stack.cluster_name}` removes both, and the next "
        f"`./hpc up {stack.options}` starts again."
        if choice.within(stack.home)
        else f"It is in {choice.recorded(stack.home)}: `./hpc pulumi {stack.options} stack rm {stack.name} --force` "
        f"removes it, and the next `./hpc up {stack.options}` starts again.",
    )


def require_own_cluster(stack: Stack) -> None:
    """Raise Problem when another stack has objects on the stack's simulated cluster; layers of one environment may.

    The nodes would become those of this stack, under what the other has there, and what both declare has two owners.
    """
    if not stack.simulated and stack.chosen is None:
        return
    backend = choice.of_cluster(stack.home)
    for other in backend.stacks():
        if other in layers.sharing_cluster(stack) or not _is_on(stack.home, backend, other):
            continue
        name = stack.cluster_name
        raise Problem(
            f"the simulated cluster {name} has stack {other} on it, and takes one stack at a time",
            f"Give stack {stack.name} a cluster of its own (`--name` and another name), or take {other} off this one: "
            f"`./hpc destroy --stack {other} --name {name}`, or `./hpc sim clean --name {name}` with the cluster. "
            f"If you mean {other}, pass `--stack {other}`.",
        )


def require_unprotected(stack: Stack) -> None:
    """Raise Problem when the state has protected objects: the engine would list each, and delete none at all."""
    kept = [short(resource["urn"]) for resource in _resources(stack) if resource.get("protect")]
    if kept:
        raise Problem(
            f"stack {stack.name} protects {some(kept, _SHOWN)}",
            f"`./hpc sim clean --name {stack.cluster_name}` removes the cluster with all of it; to take only the stack "
            f"off it, set `protect: false` in {stack.platform_file.name}, run `./hpc up {stack.options}`, then this.",
        )


def _resources(stack: Stack) -> list[dict[str, Any]]:
    backend = stack.backend
    return backend.resources(stack.name) if backend else []


def _is_on(home: Path, backend: Backend, other: str) -> bool:
    """Whether a stack has objects on a cluster; a backend outside its home may have stacks of many clusters."""
    if not choice.within(home):
        known = states.load(Layout(home))
        if known is None or backend.tags(other).get(SERVER) != known.server:
            return False
    return bool(backend.resources(other))
