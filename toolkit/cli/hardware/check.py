"""`./hpc hardware check`: nodes compared with their machine file."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import typer

from core.hardware.gpus import labelled
from core.hardware.profiles import PROFILES, Profile
from core.wording import plural
from stacks.settings.fabric import Roce
from stacks.settings.platform import Settings
from toolkit.cli.hardware.comparison import Comparison, compare
from toolkit.cli.hardware.facts import NODE, Facts
from toolkit.cli.hardware.findings import Difference, NotCompared
from toolkit.cli.hardware.from_logs import read_files, require_one_node
from toolkit.cli.hardware.node_machine import readings_of
from toolkit.cli.hardware.node_outputs import (
    Options,
    cluster_of,
    collect,
    with_options,
)
from toolkit.cli.hardware.tool_facts import gather
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.console import print_notice, print_text
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.exit_status import Judging
from toolkit.cli.shared.options import DEFAULT_STACK, OtherName, StackOption
from toolkit.cli.shared.stack import Stack
from toolkit.evidence.model import Reading

KIND = Judging
SAME, DIFFERS, UNDECIDED = 0, 1, 2

NodesOption = Annotated[
    list[str] | None, typer.Option("--node", help="Node; repeatable. Default: all GPU nodes of the stack.")
]
FilesOption = Annotated[
    list[str] | None,
    typer.Option("--file", "-f", help="Outputs of one node, instead of the cluster; repeatable. - is standard input."),
]


@with_options
def command(
    *,
    stack: StackOption = DEFAULT_STACK,
    name: OtherName = None,
    node: NodesOption = None,
    file: FilesOption = None,
    options: Options,
) -> None:
    """Compare nodes with their machine file.

    Reports missing ports, swapped rails, GPUs at another NUMA node, lost NVLinks, less memory, other link layers and
    rates, one per line.

    Runs the Job of `./hpc hardware discover` on each node, one after the
    other, or with -f reads what one node has printed.

    Exit status 0: no difference; 1: differences; 2: not everything could
    be compared; 3: nothing compared.
    """
    wanted = stacks.read(stack, name)
    machines = _machines(wanted, node or ())
    if file:
        if len(machines) > 1 and node:
            raise Problem("the files are of one node, and --node names several", "Name one.")
        label = node[0] if node else "the node of the files"
        raise typer.Exit(_report({label: compared(wanted.settings, machines[0], read_files(file))}))
    cluster = cluster_of(wanted, None, None)
    found: dict[str, Comparison | Problem] = {}
    for each in machines:
        try:
            outputs = collect(cluster, each, options, wanted)
            found[each] = compared(wanted.settings, each, readings_of(each, outputs.labels, outputs.printed))
        except Problem as problem:
            found[each] = problem
    raise typer.Exit(_report(found))


def _machines(stack: Stack, names: Sequence[str]) -> list[str]:
    """Return the nodes to check; raise Problem for one that has no machine file."""
    known = [node.name for node in stack.settings.gpu_nodes]
    if unknown := [name for name in names if name not in known]:
        raise Problem(
            f"--node {unknown[0]}: not a node with GPUs of stack {stack.name}",
            f"Its nodes: {', '.join(known) or 'none'}.",
        )
    if not known:
        raise Problem(f"stack {stack.name} has no nodes with GPUs", "Give its nodes a `machine`.")
    return [*names] or known


def compared(settings: Settings, node: str, readings: Sequence[Reading]) -> Comparison:
    """Compare what a GPU node of a stack prints with the machine that it is to be, that of its pool."""
    facts = gather(readings)
    require_one_node(facts)
    result = compare(expected(settings, node), facts)
    unclear = [NotCompared(one.what, f"two lines do not agree: {one.text}") for one in facts.contradictions.values()]
    return result._replace(
        differences=[*_swapped(settings, node, facts), *result.differences], unknown=[*result.unknown, *unclear]
    )


def _swapped(settings: Settings, node: str, facts: Facts) -> Iterator[Difference]:
    """Yield that a node has the GPUs of another machine than its pool, and of which."""
    pool, gpus = settings.pool_with(node), (facts.get(NODE, "product of the GPUs"), facts.get(NODE, "number of GPUs"))
    if pool is None or not pool.declared or gpus[0] in (None, labelled(pool.machine.gpu)):
        return
    machines = {f"{other.machine.name} of pool {other.name}": other.machine for other in settings.gpu_pools}
    names = [
        [name for name, machine in among.items() if (labelled(machine.gpu), machine.gpus) == gpus]
        for among in (machines, PROFILES)
    ]
    yield Difference(
        "machine",
        f"{pool.machine.name} of pool {pool.name}",
        " or ".join(names[0] or names[1]) or "an unknown one",
        "Name the pool of its own machine as its `pool`, or swap the node back",
    )


def expected(settings: Settings, node: str) -> Profile:
    """Return the machine that a GPU node is to be: with RoCE its ports speak Ethernet, whoever named them."""
    pool = settings.pool_with(node)
    assert pool  # noqa: S101 - the callers have it from the stack's GPU nodes
    roce = isinstance(pool.fabric, Roce)
    return pool.machine.model_copy(update={"link_layer": "Ethernet"}) if roce else pool.machine


def _report(found: Mapping[str, Comparison | Problem]) -> int:
    """Print a line for each difference, and return the exit status."""
    differ = undecided = 0
    for node, one in found.items():
        if isinstance(one, Problem):
            undecided += 1
            print_notice(f"{node}: not compared: {one}")
            continue
        for difference in one.differences:
            print_text(f"{node}: {difference}")
        for unknown in one.unknown:
            print_notice(f"{node}: {unknown}")
        differ += bool(one.differences)
        undecided += bool(one.unknown)
    nodes = plural(len(found), "node")
    print_text(f"{nodes}: {differ} with differences, {undecided} not compared in full")
    return DIFFERS if differ else UNDECIDED if undecided else SAME
