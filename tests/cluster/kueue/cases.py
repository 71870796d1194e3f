"""Random cases of a job and the free GPUs of a few nodes, and what `./hpc place` says of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

from cli import place
from tests.support.commands import finished

STACK = "superpod-a100"
NODES: Mapping[str, str] = {"dgx019": "leaf-1", "dgx020": "leaf-1", "dgx021": "leaf-2", "dgx022": "leaf-2"}
"""Machines of that stack on both sides of a border between two scalable units -> their leaf."""
GPUS = 8


@dataclass(frozen=True)
class Case:
    """A job of `pods` pods of `gpus` GPUs each, and the free GPUs of each node."""

    free: Mapping[str, int]
    pods: int
    gpus: int
    level: str | None
    """Level of the fabric in one domain of which all pods must run."""

    @property
    def fits(self) -> bool:
        """Whether the job can start now, by `./hpc place`."""
        free = ",".join(f"{node}={gpus}" for node, gpus in self.free.items())
        job = ["--gpus", str(self.pods * self.gpus), "--gpus-per-pod", str(self.gpus), "--free", free]
        status, _ = finished(place.command, "--stack", STACK, *job, *(["--within", self.level] if self.level else []))
        return status == 0


def cases(count: int, seed: int) -> Iterator[Case]:
    """Yield random cases, most of them near the border between jobs that fit and jobs that do not."""
    random = Random(seed)  # noqa: S311 - cases, no secrets
    for _ in range(count):
        whole = random.random() < 0.3
        free = {node: random.choice((0, GPUS)) if whole else random.randint(0, GPUS) for node in NODES}
        gpus = random.choice((1, 2, 3, 4, 5, 6, 7, 8, 8))
        level = random.choice((None, "leaf", "host"))
        room: dict[str, int] = {}
        for node, leaf in NODES.items():
            domain = {"leaf": leaf, "host": node}.get(level or "", "")
            room[domain] = room.get(domain, 0) + free[node] // gpus
        pods = max(1, max(room.values()) + random.choice((-2, -1, 0, 0, 1, 1, 2)))
        yield Case(free, pods, gpus, level)
