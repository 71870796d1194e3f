"""Files of unknown machines: what labels say of them, to be completed on site."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core import project
from core.hardware.profiles import NVIDIA_PCI_VENDOR
from core.hardware.profiles.catalogue import BASE, TO_COMPLETE, incomplete_fields, missing
from core.hardware.profiles.records import MEMORY_REPORTED
from core.wording import some
from toolkit.cli.init import text
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
        name = f"{stack}-{_slug(group)}"
        twice = sum(file.machine.startswith(name) for file in files)
        machine = f"{name}-{twice + 1}" if twice else name
        files.append(MachineFile(machine, group, _content(machine, group, reached)))
    return tuple(files)


def which(group: Group, file: MachineFile | None) -> tuple[str, tuple[str, ...]]:
    """Return what the user decides of the machine of a group, and lines to choose from."""
    if file is not None:
        return (
            f"no known machine has {group.traits}: complete {file.path}, which says how",
            (),
        )
    unknown = "no label says whether these have GPUs; " if group.traits.has_gpus is None else ""
    none = ", or none where they have no GPUs" if unknown else ""
    own = f", or a file of your own in `machines` with base {' or '.join(group.families)}" if group.families else ""
    return (
        f"which machine these are, of those that have {group.traits}: {unknown}uncomment one line{none}{own}",
        tuple(f"machine: {name}" for name in group.candidates),
    )


def _slug(group: Group) -> str:
    words = group.traits.machine or group.traits.product or "gpu"
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-") or "gpu"


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
        lines.append(f"memory_gib is what is installed: about {_installed(common.memory_gib)}.")
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
    return text.head(lines, commands) + text.dumped(fields)


def _installed(reported: float) -> int:
    """Return GiB that are installed where Linux reports so many, a multiple of the size of a module."""
    return round(reported / MEMORY_REPORTED / _DIMM_GIB) * _DIMM_GIB


def _inherited(base: str) -> Iterator[str]:
    """Yield a line about the ports of a base, which are as the maker delivers them."""
    fields = incomplete_fields(base)
    if ports := fields.get("ports"):
        yield (
            f"From {base} are ports ({ports['count']} of {ports['rate_gbps']} Gb/s, {ports['adapter']}) and link_layer "
            f"({fields.get('link_layer')}); give them here, too, where this machine has others."
        )
