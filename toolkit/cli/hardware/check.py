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
from toolkit.cli.hardware.from_logs import read_files, readings_of, require_one_node
from toolkit.cli.hardware.node_outputs import Options, cluster_of, collect, with_options
from toolkit.cli.hardware.port_comparison import Difference, NotCompared
from toolkit.cli.hardware.tool_facts import gather
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.console import print_notice, print_text
from toolkit.cli.shared.errors import Judging, Problem
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
    stack_name: StackOption = DEFAULT_STACK,
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
    stack = stacks.read(stack_name, name)
    machines = _machines(stack, node or ())
    if file:
        if len(machines) > 1 and node:
            raise Problem("the files are of one node, and --node names several", "Name one.")
        label = node[0] if node else "the node of the files"
        raise typer.Exit(_report({label: compared(stack.settings, machines[0], read_files(file))}))
    cluster = cluster_of(stack, None, None)
    comparisons: dict[str, Comparison | Problem] = {}
    for node_name in machines:
        try:
            outputs = collect(cluster, node_name, options, stack)
            comparisons[node_name] = compared(
                stack.settings, node_name, readings_of(node_name, outputs.labels, outputs.printed)
            )
        except Problem as problem:
            comparisons[node_name] = problem
    raise typer.Exit(_report(comparisons))


def _machines(stack: Stack, names: Sequence[str]) -> list[str]:
    """Return the nodes to check; raise Problem for one that has no machine file."""
    node_names = [node.name for node in stack.settings.gpu_nodes]
    if unknown := [name for name in names if name not in node_names]:
        raise Problem(
            f"--node {unknown[0]}: not a node with GPUs of stack {stack.name}",
            f"Its nodes: {', '.join(node_names) or 'none'}.",
        )
    if not node_names:
        raise Problem(f"stack {stack.name} has no nodes with GPUs", "Give its nodes a `machine`.")
    return [*names] or node_names


def compared(settings: Settings, node: str, readings: Sequence[Reading]) -> Comparison:
    """Compare what a GPU node of a stack prints with the machine that it is to be, that of its pool."""
    facts = gather(readings)
    require_one_node(facts)
    result = compare(expected(settings, node), facts)
    unclear = [
        NotCompared(contradiction.what, f"two lines do not agree: {contradiction.text}")
        for contradiction in facts.contradictions.values()
    ]
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


def _report(comparisons: Mapping[str, Comparison | Problem]) -> int:
    """Print a line for each difference, and return the exit status."""
    differ = undecided = 0
    for node, comparison in comparisons.items():
        if isinstance(comparison, Problem):
            undecided += 1
            print_notice(f"{node}: not compared: {comparison}")
            continue
        for difference in comparison.differences:
            print_text(f"{node}: {difference}")
        for unknown in comparison.unknown:
            print_notice(f"{node}: {unknown}")
        differ += bool(comparison.differences)
        undecided += bool(comparison.unknown)
    nodes = plural(len(comparisons), "node")
    print_text(f"{nodes}: {differ} with differences, {undecided} not compared in full")
    return DIFFERS if differ else UNDECIDED if undecided else SAME
