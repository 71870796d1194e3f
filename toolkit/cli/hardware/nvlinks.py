"""How the GPUs of a node are joined, by the NVLinks that it prints, and which GPUs have lost some."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from core.hardware.gpus import ARCHITECTURES, Gpu, resolve_gpu
from core.hardware.profiles.records import NvLink, Shape
from core.wording import plural
from toolkit.cli.hardware.facts import NODE, Facts
from toolkit.cli.hardware.known_machines import with_gpu
from toolkit.cli.hardware.machine_file import MachineFields

MOST_LINKS = 18
"""NVLinks of a GPU, at most (NVLink 4 and 5): a GPU that shows more in all to the others reaches them over switches."""
MOST_BRIDGED = 4
"""GPUs that bridges join, at most."""
_MOST_ODD, _MANY = 3, 16
"""GPUs that are looked for as the odd ones, at most, of a node with so many; of larger ones, if there are any, one."""
_REMEDY = (
    "a fault of the node, not another machine: see `nvidia-smi nvlink -s`, Xid errors (`dmesg | grep -i xid`) and the "
    "fabric manager's log, reset or replace what is named, and read the node again"
)

Matrix = Sequence[Sequence[int]]
"""NVLinks between GPU i and GPU j; 0 for none."""


@dataclass(frozen=True)
class NvLinks:
    """What the links of a node show."""

    links: tuple[tuple[int, ...], ...] | None
    """Those that the machine has; None where the node's faults hide them."""
    fault: str | None = None
    """Which GPUs have lost links, and what to do."""
    unlike: tuple[int, ...] = ()
    """GPUs without links where as many others have some: that is a choice of the site, or a lost bridge."""


def examine(printed: Matrix, others: Collection[Matrix], always: int | None = None) -> NvLinks:
    """Return what the links that a node prints show; `others` are those of known machines with the same GPUs.

    `always` is how many links these GPUs have in every machine.

    GPUs of one machine are alike: one that has fewer links than most others has lost them. A node on which none has any
    is not another machine either, where such GPUs always have some.
    """
    links = tuple(map(tuple, printed))
    if always and not any(map(any, links)) and len(links) > 1:
        meant = "where that is meant, as in a virtual machine, write `nvlink: {shape: none}`"
        return NvLinks(None, f"no GPU has an NVLink, and each has {always} in every machine: {_REMEDY}; {meant}")
    odd = odd_gpus(links)
    if odd == ():
        return NvLinks(links)
    whole = next((other for other in others if _has_lost(links, other)), None)
    if whole is not None:
        lost = ", ".join(
            f"GPU {' to GPU '.join(map(str, gpus))}: {between(links, gpus)}, not {between(whole, gpus)}"
            for gpus in differing(links, whole)
        )
        return NvLinks(tuple(map(tuple, whole)), f"{lost}: {_REMEDY}")
    if odd is None:
        half = [gpu for gpu, row in enumerate(links) if not any(row)]
        return NvLinks(links, unlike=tuple(half) if len(half) < len(links) else ())
    repaired = _repaired(links, odd)
    rest = next(gpu for gpu in range(len(links)) if gpu not in odd)
    alike: dict[str, list[str]] = {}
    for gpu in odd:
        alike.setdefault(described(links[gpu]), []).append(str(gpu))
    named = "; ".join(f"GPU {', '.join(gpus)}: {text}" for text, gpus in alike.items())
    return NvLinks(repaired, f"{named}, and the others have {described(_without(links[rest], odd, rest))}: {_REMEDY}")


def shape(links: Matrix) -> Shape | None:
    """Return how GPUs are joined; None where the links do not show it."""
    gpus = range(len(links))
    counts = {links[gpu][other] for gpu, other in combinations(gpus, 2)}
    if not counts or counts == {0}:
        return "none"
    if 0 not in counts and len(links) > 2:  # noqa: PLR2004 - two are a pair
        return "switched" if max(map(sum, links)) > MOST_LINKS else "mesh" if len(counts) == 1 else None
    groups = {frozenset({gpu, *(other for other in gpus if links[gpu][other])}) for gpu in gpus}
    if sum(map(len, groups)) == len(links) and max(map(len, groups)) <= MOST_BRIDGED:
        return "bridged"
    return "hybrid cube mesh" if max(map(sum, links)) <= MOST_LINKS else None


def odd_gpus(links: Matrix) -> tuple[int, ...] | None:
    """Return the GPUs without which all others are alike, a minority; None where there is no such minority."""
    gpus = range(len(links))
    most = _MOST_ODD if len(links) <= _MANY else 1
    for number in range(min(most, (len(links) - 1) // 2) + 1):
        for odd in combinations(gpus, number):
            rest = [gpu for gpu in gpus if gpu not in odd]
            if len({tuple(sorted(_without(links[gpu], odd, gpu))) for gpu in rest}) == 1:
                poorer = all(sum(links[gpu]) < max(sum(links[other]) for other in rest) for gpu in odd)
                return odd if poorer else None
    return None


def _without(row: Sequence[int], odd: Collection[int], own: int) -> list[int]:
    return [count for gpu, count in enumerate(row) if gpu not in odd and gpu != own]


def _has_lost(links: Matrix, other: Matrix) -> bool:
    """Return whether a node has fewer links than another with as many GPUs, and nowhere more."""
    pairs = list(combinations(range(len(links)), 2))
    return len(other) == len(links) and all(links[gpu][peer] <= other[gpu][peer] for gpu, peer in pairs)


def differing(links: Matrix, whole: Matrix) -> Iterator[tuple[int, ...]]:
    """Yield the pairs of GPUs that differ, in place of several with one GPU that GPU alone."""
    pairs = {(gpu, peer) for gpu, peer in combinations(range(len(links)), 2) if links[gpu][peer] != whole[gpu][peer]}
    while pairs:
        gpu = max(range(len(links)), key=lambda candidate: (sum(candidate in pair for pair in pairs), -candidate))
        own = {pair for pair in pairs if gpu in pair}
        yield own.pop() if len(own) == 1 else (gpu,)
        pairs = {pair for pair in pairs if gpu not in pair}


def between(links: Matrix, gpus: Sequence[int]) -> str:
    """Return the links of a GPU, or those between two."""
    return described(links[gpus[0]] if len(gpus) == 1 else [links[gpus[0]][gpus[1]]], counted=len(gpus) == 1)


def described(row: Sequence[int], *, counted: bool = True) -> str:
    """Return the links of a GPU in words; `counted`: with the number of GPUs at their ends."""
    counts = sorted({count for count in row if count}, reverse=True)
    texts = [f"NV{count} to {plural(row.count(count), 'GPU')}" if counted else f"NV{count}" for count in counts]
    return " and ".join(texts) or "no NVLink"


def _repaired(links: Matrix, odd: Sequence[int]) -> tuple[tuple[int, ...], ...] | None:
    """Return the links as they are without the fault, where those of the others say how they go on."""
    rest = [gpu for gpu in range(len(links)) if gpu not in odd]
    counts = {links[gpu][other] for gpu, other in combinations(rest, 2)}
    if len(counts) == 1 and 0 not in counts and len(rest) > 2:  # noqa: PLR2004 - two are a pair
        count = counts.pop()
        return tuple(tuple(0 if gpu == other else count for other in range(len(links))) for gpu in range(len(links)))
    return None


def lost_gpus(machine_fields: MachineFields) -> str | None:
    """Return that the node has fewer GPUs than its machine, by known machines with the same ones; None if not.

    A part of a machine's GPUs that divides their number is what virtual machines have.
    """
    gpus = machine_fields.fields.get("gpus")
    gpu_counts = {machine.gpus for machine in with_gpu(machine_fields.fields.get("gpu")) if machine.gpus}
    if not gpus or not gpu_counts or any(gpus >= count or count % gpus == 0 for count in gpu_counts):
        return None
    counts = " or ".join(map(str, sorted(gpu_counts)))
    return (
        f"{gpus} GPUs, and known machines with these have {counts}: one may have left the bus: see "
        "`lspci -d 10de:` and Xid errors (`dmesg | grep -i xid`), reset or replace it, and read the node again"
    )


def put_nvlink(facts: Facts, machine: MachineFields) -> None:
    """Set `nvlink` as the links between the GPUs show it; a GPU that has lost some is a fault of the node."""
    gpus = range(machine.fields["gpus"])
    paths = [
        [
            None if gpu == other else facts.get(f"GPU{min(gpu, other)}", f"path to GPU{max(gpu, other)}")
            for other in gpus
        ]
        for gpu in gpus
    ]
    if any(path is None for gpu, row in enumerate(paths) for other, path in enumerate(row) if gpu != other):
        alone = facts.get(NODE, "matrix of PCIe alone")
        of_pcie = "it is of topo -mp, which shows PCIe alone: print nvidia-smi topo -m"
        machine.missing["nvlink"] = of_pcie if alone else "nvidia-smi topo -m gives not the path between all GPUs"
        return
    printed = [[int(path[2:]) if path and path.startswith("NV") else 0 for path in row] for row in paths]
    known_gpu = resolve_gpu(machine.fields.get("gpu"))
    gpu = None if known_gpu is None else Gpu.model_validate(known_gpu)
    others = [known_machine.links for known_machine in with_gpu(machine.fields.get("gpu")) if known_machine.links]
    seen = examine(printed, others, gpu.nvlinks if gpu else None)
    if seen.fault:
        machine.faults.append(seen.fault)
    if seen.unlike:
        who = f"{', '.join(map(str, seen.unlike))} {'has' if len(seen.unlike) == 1 else 'have'}"
        machine.remarks.append(f"GPU {who} no NVLink, and the others have: a choice, or a bridge that is lost")
    joined = shape(seen.links) if seen.links is not None else None
    if seen.links is None or joined is None:
        machine.missing["nvlink"] = (
            "the links of the node are not those of the machine" if seen.fault else "of no known shape"
        )
    elif joined == "none":
        machine.fields["nvlink"] = {"shape": joined}
    else:
        _put_links(machine, gpu, seen.links, joined)


def _put_links(machine: MachineFields, gpu: Gpu | None, links: tuple[tuple[int, ...], ...], joined: Shape) -> None:
    architecture = ARCHITECTURES[gpu.architecture] if gpu else None
    link_gbs = (gpu.nvlink_gbs if gpu else None) or (architecture.nvlink_gbs if architecture else None)
    of_a_gpu = NvLink.model_construct(generation=0, gbs=0, shape=joined, links=links).of_a_gpu
    figures: dict[str, Any] = {}
    if architecture is not None and architecture.nvlink_generation and link_gbs:
        figures = {"generation": architecture.nvlink_generation, "gbs": int(of_a_gpu * link_gbs)}
        machine.remarks.append("nvlink: generation and gbs are those of the GPUs' architecture")
    else:
        machine.missing["nvlink: generation, gbs"] = "they follow from the GPUs' model, which is not known"
    machine.fields["nvlink"] = {**figures, "shape": joined, "links": [[*row] for row in links]}
