"""The kinds of GPU machines that a cluster has: groups of nodes, by their machine."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.hardware.profiles import PROFILES
from stacks.settings.pools import MOST_LENGTH
from toolkit.cli.init.machine_files import MachineFile
from toolkit.cli.init.machines import Group, catalogue


@dataclass(frozen=True)
class Kind:
    """GPU nodes of one machine."""

    name: str
    """Of its pool, where there are several kinds: as the machine is called."""
    machine: str | None
    """None: the user names it."""
    groups: tuple[Group, ...]

    @property
    def nodes(self) -> list[str]:
        """Names of its nodes."""
        return [node.name for group in self.groups for node in group.nodes]

    @property
    def link_layer(self) -> str | None:
        """What its ports are, as far as labels name it."""
        return next((group.traits.link_layer for group in self.groups if group.traits.link_layer), None)

    @property
    def ports(self) -> int | None:
        """How many ports the machine has for RDMA; None: nothing says it."""
        names = machines(self.groups)
        counts = {PROFILES[name].ports.count if PROFILES[name].hcas else 0 for name in names}
        if names:
            return counts.pop() if len(counts) == 1 else None
        return None if any(group.families for group in self.groups) else 0

    @property
    def total_gpus(self) -> int:
        """GPUs of all its nodes; 0 where that is not known."""
        return gpus(self.groups) * len(self.nodes)


def machine_kinds(groups: Sequence[Group], files: Sequence[MachineFile] = (), stack: str = "") -> tuple[Kind, ...]:
    """Return the kinds of groups that have GPUs; `files` of the stack are of those that no known machine fits.

    A group that may be a machine of which there is a kind already is none of its own, unless its facts decide it.
    """
    of_file = {id(file.group): file.machine for file in files}
    profiles = {id(group): of_file.get(id(group), group.machine) for group in groups}
    certain = {machine for machine in profiles.values() if machine}
    same: dict[tuple[str, ...], list[Group]] = {}
    for group in groups:
        machine = profiles[id(group)]
        if machine or not certain & {*group.candidates}:
            same.setdefault(_key(machine, group), []).append(group)
    names = _names([_called(stack, key[0], alike[0]) for key, alike in same.items()])
    return tuple(
        Kind(name, key[0] or None, tuple(alike)) for name, (key, alike) in zip(names, same.items(), strict=True)
    )


def _key(machine: str | None, group: Group) -> tuple[str, ...]:
    """Return what groups of one kind have in common, the machine first: of unknown machines all that is seen."""
    return (machine,) if machine else ("", *(group.candidates or (str(group.traits),)))


def with_gpus(groups: Sequence[Group]) -> list[Group]:
    """Return the groups that have GPUs or, where no label names any, those that may have some."""
    return [group for group in groups if group.traits.has_gpus] or [group for group in groups if group.candidates]


def machines(groups: Sequence[Group]) -> list[str]:
    """Return the known machines that groups can be."""
    return [name for group in groups for name in ([group.machine] if group.machine else group.candidates)]


def gpus(groups: Sequence[Group]) -> int:
    """Return how many GPUs each machine has; 0 where they differ, or are not known."""
    sizes = {machine.name: machine.gpus or 0 for machine in catalogue()}
    sums = {
        size
        for group in groups
        for size in ([group.traits.gpus] if group.traits.gpus else [sizes[name] for name in group.candidates])
    }
    return sums.pop() if len(sums) == 1 else 0


def shared_out(total: int, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return so many GPUs by pool, from the first on as far as they go; what nothing holds is of the first."""
    rest, shares = total, {}
    for name, size in sizes.items():
        shares[name] = min(rest, size)
        rest -= shares[name]
    shares[next(iter(sizes))] += rest
    return {name: share for name, share in shares.items() if share} or {next(iter(sizes)): 0}


def _called(stack: str, machine: str, group: Group) -> str:
    words = machine.removeprefix(f"{stack}-") or group.traits.product or f"gpu-{group.traits.cpus}-cpus"
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def _names(called: Sequence[str]) -> Iterator[str]:
    """Yield names that are short enough for pools, and differ."""
    for number, name in enumerate(called):
        twice = called[:number].count(name)
        ending = f"-{twice + 1}" if twice else ""
        yield f"{name[: MOST_LENGTH - len(ending)].rstrip('-')}{ending}"
