"""The field `nvlink` of a machine file, from the facts of a node."""

from typing import Any

from core.hardware.gpus import ARCHITECTURES, Gpu, resolve_gpu
from core.hardware.profiles.records import NvLink, Shape
from toolkit.cli.hardware import nvlinks
from toolkit.cli.hardware.facts import NODE, Facts
from toolkit.cli.hardware.known_machines import with_gpu
from toolkit.cli.hardware.machine_fields import MachineFields


def put(facts: Facts, machine: MachineFields) -> None:
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
    gpu = _gpu(machine)
    others = [known_machine.links for known_machine in with_gpu(machine.fields.get("gpu")) if known_machine.links]
    seen = nvlinks.examine(printed, others, gpu.nvlinks if gpu else None)
    if seen.fault:
        machine.faults.append(seen.fault)
    if seen.unlike:
        who = f"{', '.join(map(str, seen.unlike))} {'has' if len(seen.unlike) == 1 else 'have'}"
        machine.remarks.append(f"GPU {who} no NVLink, and the others have: a choice, or a bridge that is lost")
    shape = nvlinks.shape(seen.links) if seen.links is not None else None
    if seen.links is None or shape is None:
        machine.missing["nvlink"] = (
            "the links of the node are not those of the machine" if seen.fault else "of no known shape"
        )
    elif shape == "none":
        machine.fields["nvlink"] = {"shape": shape}
    else:
        _put_links(machine, gpu, seen.links, shape)


def _gpu(machine: MachineFields) -> Gpu | None:
    gpu = resolve_gpu(machine.fields.get("gpu"))
    return None if gpu is None else Gpu.model_validate(gpu)


def _put_links(machine: MachineFields, gpu: Gpu | None, links: tuple[tuple[int, ...], ...], shape: Shape) -> None:
    """Set the links, with generation and bandwidth of the GPUs' architecture."""
    architecture = ARCHITECTURES[gpu.architecture] if gpu else None
    link_gbs = (gpu.nvlink_gbs if gpu else None) or (architecture.nvlink_gbs if architecture else None)
    of_a_gpu = NvLink.model_construct(generation=0, gbs=0, shape=shape, links=links).of_a_gpu
    figures: dict[str, Any] = {}
    if architecture is not None and architecture.nvlink_generation and link_gbs:
        figures = {"generation": architecture.nvlink_generation, "gbs": int(of_a_gpu * link_gbs)}
        machine.remarks.append("nvlink: generation and gbs are those of the GPUs' architecture")
    else:
        machine.missing["nvlink: generation, gbs"] = "they follow from the GPUs' model, which is not known"
    machine.fields["nvlink"] = {**figures, "shape": shape, "links": [[*row] for row in links]}
