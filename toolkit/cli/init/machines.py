"""Which known machine a node is, by what its labels and its kubelet say; nothing is guessed."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from core.apis.names import CPU_ARCHITECTURES, GPU_PRODUCT
from core.hardware.gpus import ARCHITECTURES, Gpu
from core.hardware.profiles import MELLANOX_PCI_VENDOR, NVIDIA_PCI_VENDOR
from core.wording import plural
from toolkit.cli.hardware.known_machines import KnownMachine, catalogue
from toolkit.cli.init.facts import COUNT, Node

_MACHINE = "nvidia.com/gpu.machine"
_FEATURE = "feature.node.kubernetes.io/"
_PCI = re.compile(re.escape(_FEATURE) + r"pci-(?:([0-9a-f]{4})_)?([0-9a-f]{4})\.present")
_DISPLAY = "03"
"""First digits of the PCI class of GPUs."""
_LINK_LAYERS = {"0207": "InfiniBand", "0200": "Ethernet"}
"""PCI class of an adapter -> what its ports are."""
_DIVIDED = re.compile(r"-(?:SHARED|MIG-.*)$")
"""What sharing and MIG append to the product."""
_ARCHITECTURES = {name: own for own, name in CPU_ARCHITECTURES.items()}
_LEAST_REPORTED = 0.9
"""Part of the installed memory that Linux reports at least: the rest is firmware's and the kernel's."""
_SPREAD = 0.01
"""Part of the memory by which machines of one kind differ at most: a module that is missing is more."""


@dataclass(frozen=True)
class Traits:
    """What distinguishes one machine from another. None: unknown."""

    product: str | None
    gpus: int | None
    machine: str | None
    cpus: int
    memory_gib: float
    architecture: str
    link_layer: str | None
    has_gpus: bool | None
    """None: nothing on the node looks for GPUs."""

    def __str__(self) -> str:
        gpus = f"{self.gpus or ''} {self.product or 'GPUs of NVIDIA'}".strip() if self.has_gpus else "no label of GPUs"
        parts = [gpus, plural(self.cpus, "CPU"), f"{self.memory_gib:.0f} GiB", self.architecture]
        return ", ".join([*parts, *([f"machine {self.machine}"] if self.machine else [])])


@dataclass(frozen=True)
class Group:
    """Nodes with the same traits and roles, and the machines that they can be."""

    nodes: tuple[Node, ...]
    traits: Traits
    machine: str | None = None
    """The machine, where the facts leave one."""
    candidates: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    """Machines that a file of the site's own must complete."""

    @property
    def may_have_gpus(self) -> bool:
        """Whether the nodes have GPUs, or may have."""
        return bool(self.traits.has_gpus or self.candidates)


def grouped(nodes: Iterable[Node]) -> list[Group]:
    """Return the nodes by what they are, each group with the machines that its facts allow."""
    groups: dict[tuple[tuple[str, ...], Traits], list[Node]] = {}
    for node in nodes:
        own = (node.roles, traits(node))
        groups.setdefault(next((key for key in groups if _alike(key, own)), own), []).append(node)
    return [_matched(tuple(same), common) for (_, common), same in groups.items()]


def _alike(key: tuple[tuple[str, ...], Traits], other: tuple[tuple[str, ...], Traits]) -> bool:
    """Whether roles and traits are the same, but for what Linux reports of equal memory."""
    (roles, first), (others, second) = key, other
    spread = abs(first.memory_gib - second.memory_gib)
    same = replace(second, memory_gib=first.memory_gib) == first
    return roles == others and same and spread <= first.memory_gib * _SPREAD


def traits(node: Node) -> Traits:
    """Return what distinguishes the machine of a node from others."""
    labels, pci = node.labels, _pci(node.labels)
    product, divided = labels.get(GPU_PRODUCT), labels.get("nvidia.com/mig.strategy") == "single"
    classes = [kind for kind, vendor in pci if vendor == NVIDIA_PCI_VENDOR]
    seen = bool(product or node.gpus or any(kind is None or kind.startswith(_DISPLAY) for kind in classes))
    looked = any(label.startswith(_FEATURE) for label in labels)
    count = labels.get(COUNT, "")
    layers = {_LINK_LAYERS[kind] for kind, vendor in pci if vendor == MELLANOX_PCI_VENDOR and kind in _LINK_LAYERS}
    return Traits(
        product=_DIVIDED.sub("", product) if product else None,
        # Of divided GPUs the parts are counted.
        gpus=None if divided else int(count) if re.fullmatch(r"[0-9]{1,3}", count) else node.gpus or None,
        machine=labels.get(_MACHINE) or None,
        cpus=node.cpus,
        memory_gib=round(node.memory_gib),
        architecture=_ARCHITECTURES.get(node.architecture, node.architecture),
        link_layer=layers.pop() if len(layers) == 1 else None,
        has_gpus=True if seen else False if looked else None,
    )


def _matched(nodes: tuple[Node, ...], common: Traits) -> Group:
    if common.has_gpus is False:
        return Group(nodes, common)
    fitting = [machine for machine in catalogue() if _fits(machine, common)]
    complete = tuple(machine.name for machine in fitting if machine.complete)
    families = tuple(machine.name for machine in fitting if not machine.complete) if common.has_gpus else ()
    if common.machine:
        # The name that the firmware gives may end with part numbers.
        label = _letters(common.machine)
        called = tuple(
            machine.name for machine in fitting if machine.complete and label.startswith(_letters(machine.model))
        )
        complete, families = called, () if called else families
    certain = common.has_gpus and len(complete) == 1 and not families
    return Group(nodes, common, complete[0] if certain else None, complete, families)


def _fits(machine: KnownMachine, common: Traits) -> bool:
    """Return whether nothing contradicts that the node is this machine; without a GPU in sight its size must say it."""
    sizes = (
        machine.cpus is None or machine.cpus == common.cpus,
        not machine.memory_gib
        or any(size * _LEAST_REPORTED <= common.memory_gib <= size for size in machine.memory_gib),
        machine.architecture == common.architecture,
    )
    if not common.has_gpus:
        return machine.complete and all(sizes)
    gpus = (
        common.gpus is None or machine.gpus is None or machine.gpus == common.gpus,
        common.product is None or machine.gpu is None or common.product in _products(machine.gpu),
    )
    return all(sizes) and all(gpus)


def _products(gpu: Gpu) -> set[str]:
    """Return how GPU feature discovery may write a GPU: drivers put a brand before some names."""
    name = gpu.model.replace(" ", "-")
    return {name, f"{ARCHITECTURES[gpu.architecture].brand}-{name}"}


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower()).removeprefix("nvidia").removeprefix("supermicro")


def _pci(labels: Mapping[str, str]) -> list[tuple[str | None, str]]:
    """Return class and vendor of the PCI devices that labels name."""
    matches = (_PCI.fullmatch(label) for label, value in labels.items() if value == "true")
    return [(match[1], match[2]) for match in matches if match]
