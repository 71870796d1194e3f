"""Random cases of a job and the free GPUs of a few nodes of two pools, and what `./hpc hardware fit` says of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from unittest import mock

from stacks.loading.settings import parse
from tests.support.commands import finished
from tests.support.stack_settings import data
from toolkit.cli.hardware import fit
from toolkit.cli.shared.stack import Stack

STACK = "mixed"


@dataclass(frozen=True)
class Machines:
    """Nodes of a pool."""

    gpus: int
    """Of a node."""
    leaves: Mapping[str, str]
    """Node -> its leaf; "" where no fabric joins the nodes."""

    @property
    def levels(self) -> tuple[str | None, ...]:
        """Levels that jobs may request, and None for no request."""
        return (None, "leaf", "host") if all(self.leaves.values()) else (None, "host")

    def domain(self, node: str, level: str | None) -> str:
        """Return the domain of a level that a node is in."""
        return {"leaf": self.leaves[node], "host": node}.get(level or "", "")


POOLS: Mapping[str, Machines] = {
    "training": Machines(8, {"dgx01": "leaf-1", "dgx02": "leaf-1", "dgx03": "leaf-2", "dgx04": "leaf-2"}),
    "inference": Machines(4, {"l40s-01": "", "l40s-02": ""}),
}
"""Of that stack, whose machines with a fabric are on two leaves here."""
NODES: Mapping[str, str] = {node: pool for pool, machines in POOLS.items() for node in machines.leaves}
"""Node -> its pool."""


@dataclass(frozen=True)
class Case:
    """A job of `pods` pods of `gpus` GPUs each in a pool, and the free GPUs of each node of both pools."""

    pool: str
    free: Mapping[str, int]
    pods: int
    gpus: int
    level: str | None
    """Level of the fabric in one domain of which all pods must run."""

    @property
    def alone(self) -> "Case":
        """The same job when no other holds GPUs."""
        return replace(self, free={node: POOLS[pool].gpus for node, pool in NODES.items()})

    @property
    def own(self) -> Mapping[str, int]:
        """Free GPUs of the nodes of its pool."""
        return {node: self.free[node] for node in POOLS[self.pool].leaves}

    @property
    def fits(self) -> bool:
        """Whether the job can start now, by `./hpc hardware fit`."""
        free = ",".join(f"{node}={gpus}" for node, gpus in self.own.items())
        job = ["--gpus", str(self.pods * self.gpus), "--gpus-per-pod", str(self.gpus), "--pool", self.pool]
        within = ["--within", self.level] if self.level else []
        with mock.patch("toolkit.cli.shared.stack.read", stack):
            status, _ = finished(fit.command, "--stack", STACK, *job, "--free", free, *within)
        return status == 0


@cache
def stack(name: str = STACK) -> Stack:
    """Return the stack with the places of its nodes."""
    content = data(name)
    content["queues"]["topology"] = {}
    leaves = POOLS["training"].leaves
    (nodes,) = (entry for entry in content["nodes"] if entry.get("pool") == "training")
    content["nodes"].remove(nodes)
    for node, leaf in leaves.items():
        content["nodes"].append({**nodes, "name": f"{node}.mixed.example.com", "topology": {"leaf": leaf}})
    return Stack(name, parse(content, "test"))


def cases(count: int, seed: int) -> Iterator[Case]:
    """Yield random cases, most of them near the border between jobs that fit and jobs that do not."""
    random = Random(seed)  # noqa: S311 - cases, no secrets
    for _ in range(count):
        pool = random.choice(("training", "training", "inference"))
        whole = random.random() < 0.3
        free = {
            node: random.choice((0, POOLS[of].gpus)) if whole else random.randint(0, POOLS[of].gpus)
            for node, of in NODES.items()
        }
        machines = POOLS[pool]
        gpus = random.choice((*range(1, machines.gpus + 1), machines.gpus))
        level = random.choice(machines.levels)
        room: dict[str, int] = {}
        for node in machines.leaves:
            domain = machines.domain(node, level)
            room[domain] = room.get(domain, 0) + free[node] // gpus
        pods = max(1, max(room.values()) + random.choice((-2, -1, 0, 0, 1, 1, 2)))
        yield Case(pool, free, pods, gpus, level)
