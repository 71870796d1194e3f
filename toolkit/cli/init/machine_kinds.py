"""The kinds of GPU machines that a cluster has, and files of unknown ones, to be completed on site."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core import project
from core.hardware.profiles import NVIDIA_PCI_VENDOR, PROFILES
from core.hardware.profiles.catalogue import BASE, TO_COMPLETE, incomplete_fields, missing
from core.hardware.profiles.records import MEMORY_REPORTED
from core.wording import some
from stacks.settings.pools import MOST_LENGTH
from toolkit.cli.hardware.known_machines import catalogue
from toolkit.cli.init import file_text
from toolkit.cli.init.decision import MARK
from toolkit.cli.init.facts import Connection
from toolkit.cli.init.machines import Group

_REQUIRED = ("gpu", "nvlink", "cpu_cores", "memory_gib", "numa", "link_layer", "ports", "hcas")
"""Fields of a machine without any base that labels do not give."""
_DIMM_GIB = 32
"""The installed memory is a multiple of it."""
_SHOWN = 4
"""Nodes that are named."""


@dataclass(frozen=True)
class MachineFile:
    """A file for machines of one group of nodes."""

    machine: str
    group: Group
    content: str

    @property
    def path(self) -> str:
        """Where it is, from the project's folder."""
        return f"machines/{self.machine}.yaml"


def machine_files(stack: str, groups: Sequence[Group], reached: Connection) -> tuple[MachineFile, ...]:
    """Return a file for every group of nodes with GPUs that no complete machine fits."""
    files: list[MachineFile] = []
    for group in groups:
        if not group.traits.has_gpus or group.candidates:
            continue
        name = f"{stack}-{_slug(group.traits.machine or group.traits.product or '') or 'gpu'}"
        twice = sum(file.machine.startswith(name) for file in files)
        machine = f"{name}-{twice + 1}" if twice else name
        files.append(MachineFile(machine, group, _content(machine, group, reached)))
    return tuple(files)


def which(group: Group, file: MachineFile | None) -> tuple[str, tuple[str, ...]]:
    """Return what the user decides of the machine of a group, and lines to choose from."""
    if file is not None:
        return (f"no known machine has {group.traits}: complete {file.path}, which says how", ())
    unknown = "no label says whether these have GPUs; " if group.traits.has_gpus is None else ""
    none = ", or none where they have no GPUs" if unknown else ""
    own = f", or a file of your own in `machines` with base {' or '.join(group.families)}" if group.families else ""
    return (
        f"which machine these are, of those that have {group.traits}: {unknown}uncomment one line{none}{own}",
        tuple(f"machine: {name}" for name in group.candidates),
    )


def _slug(words: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def _content(machine: str, group: Group, reached: Connection) -> str:
    first, common = group.nodes[0].name, group.traits
    base = group.families[0] if len(group.families) == 1 else None
    values: dict[str, Any] = {"model": common.machine}
    if not base:
        # What a family gives is not repeated.
        values |= {"model": common.machine or common.product, "gpus": common.gpus}
        values |= {"cpu_architecture": common.architecture, "pci_vendors": [NVIDIA_PCI_VENDOR]}
    fields = {name: value for name, value in values.items() if value}
    lacking = missing(base) if base else (*(name for name in values if name not in fields), *_REQUIRED)
    fields = ({BASE: base} if base else {TO_COMPLETE: [*lacking]}) | fields
    fields["source"] = f"labels of node {first}"
    shown = some([node.name for node in group.nodes], _SHOWN)
    lines = [
        f"yaml-language-server: $schema=../{project.located('docs/schemas/machine.json')}",
        f"Written by `./hpc init`: the machine of {shown}, which has {common}.",
        f"{MARK}: give {', '.join(lacking)}; docs/guide/machines.md describes them.",
    ]
    if "memory_gib" in lacking and common.memory_gib:
        installed = round(common.memory_gib / MEMORY_REPORTED / _DIMM_GIB) * _DIMM_GIB
        lines.append(f"memory_gib is what is installed: about {installed}.")
    lines += _inherited(base) if base else ()
    if not base and group.families:
        lines.append(f"It may be one of {', '.join(group.families)}: then name that as `{BASE}`.")
    lines.append("Or remove this file, and have it made from what the node prints, by one of these:")
    output = f"-o machines/{machine}.yaml"
    commands = [
        f"./hpc hardware discover --kubeconfig {reached.kubeconfig} --context {reached.context} "
        f"--node {first} {output}",
        f"./hpc hardware from-logs FILE... {output}",
    ]
    return file_text.head(lines, commands) + file_text.dumped(fields)


def _inherited(base: str) -> Iterator[str]:
    """Yield a line about the ports of a base, which are as the maker delivers them."""
    fields = incomplete_fields(base)
    if ports := fields.get("ports"):
        yield (
            f"From {base} are ports ({ports['count']} of {ports['rate_gbps']} Gb/s, {ports['adapter']}) and link_layer "
            f"({fields.get('link_layer')}); give them here, too, where this machine has others."
        )


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
    return _slug(machine.removeprefix(f"{stack}-") or group.traits.product or f"gpu-{group.traits.cpus}-cpus")


def _names(called: Sequence[str]) -> Iterator[str]:
    """Yield names that are short enough for pools, and differ."""
    for number, name in enumerate(called):
        twice = called[:number].count(name)
        ending = f"-{twice + 1}" if twice else ""
        yield f"{name[: MOST_LENGTH - len(ending)].rstrip('-')}{ending}"
