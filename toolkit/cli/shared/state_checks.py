"""Whether a stack fits its simulated cluster, and may be deleted; a stack on a real cluster passes."""

from typing import Any

from core.wording import some
from toolkit.cli.shared import layers
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack
from toolkit.review.titles import short_title

_SHOWN = 3  # objects that a message names


def require_cluster_of_state(stack: Stack) -> None:
    """Raise Problem when the state has objects and the data of the cluster that had them is gone."""
    if not stack.simulated:
        return
    from toolkit.cli.shared.simulated import backend, cluster  # noqa: PLC0415 - for simulated clusters alone

    data = cluster.data(stack.home)
    if data.is_dir() or not _resources(stack):
        return
    raise Problem(
        f"the state of stack {stack.name} has objects of a cluster whose data is gone ({data})",
        f"`./hpc sim clean --name {stack.cluster_name}` removes both, and the next "
        f"`./hpc up {stack.options}` starts again."
        if backend.within(stack.home)
        else f"It is in {backend.recorded(stack.home)}: `./hpc pulumi {stack.options} stack rm {stack.name} --force` "
        f"removes it, and the next `./hpc up {stack.options}` starts again.",
    )


def require_own_cluster(stack: Stack) -> None:
    """Raise Problem when another stack has objects on the stack's simulated cluster; layers of one environment may.

    The nodes would become those of this stack, under what the other has there, and what both declare has two owners.
    """
    if not stack.simulated and stack.chosen is None:
        return
    from toolkit.cli.shared.simulated import cluster  # noqa: PLC0415 - for simulated clusters alone

    for other in cluster.stacks(stack.home):
        if other in layers.sharing_cluster(stack):
            continue
        name = stack.cluster_name
        raise Problem(
            f"the simulated cluster {name} has stack {other} on it, and takes one stack at a time",
            f"Give stack {stack.name} a cluster of its own (`--name` and another name), or take {other} off this one: "
            f"`./hpc destroy --stack {other} --name {name}`, or `./hpc sim clean --name {name}` with the cluster. "
            f"If you mean {other}, pass `--stack {other}`.",
        )


def require_fitting(stack: Stack) -> None:
    """Raise Problem when the stack's simulated cluster is there and was created for another release."""
    if stack.simulated:
        from toolkit.cli.shared.simulated import release  # noqa: PLC0415 - for simulated clusters alone

        release.fitting(stack)


def require_unprotected(stack: Stack) -> None:
    """Raise Problem when the state has protected objects: the engine would list each, and delete none at all."""
    kept = [short_title(resource["urn"]) for resource in _resources(stack) if resource.get("protect")]
    if kept:
        raise Problem(
            f"stack {stack.name} protects {some(kept, _SHOWN)}",
            f"`./hpc sim clean --name {stack.cluster_name}` removes the cluster with all of it; to take only the stack "
            f"off it, set `protect: false` in {stack.platform_file.name}, run `./hpc up {stack.options}`, then this.",
        )


def _resources(stack: Stack) -> list[dict[str, Any]]:
    backend = stack.backend
    return backend.resources(stack.name) if backend else []
