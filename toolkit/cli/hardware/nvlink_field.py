"""The field `nvlink` of a machine file, from the facts of a node."""

from typing import Any

from core.hardware.gpus import ARCHITECTURES, Gpu, resolve_gpu
from core.hardware.profiles.records import NvLink, Shape
from toolkit.cli.hardware import nvlinks
from toolkit.cli.hardware.facts import NODE, Facts
from toolkit.cli.hardware.known_machines import with_gpu
from toolkit.cli.hardware.machine_fields import Found


def put(facts: Facts, found: Found) -> None:
    """Set `nvlink` as the links between the GPUs show it; a GPU that has lost some is a fault of the node."""
    gpus = range(found.fields["gpus"])
    paths = [
        [
            None if one == other else facts.get(f"GPU{min(one, other)}", f"path to GPU{max(one, other)}")
            for other in gpus
        ]
        for one in gpus
    ]
    if any(path is None for one, row in enumerate(paths) for other, path in enumerate(row) if one != other):
        alone = facts.get(NODE, "matrix of PCIe alone")
        of_pcie = "it is of topo -mp, which shows PCIe alone: print nvidia-smi topo -m"
        found.missing["nvlink"] = of_pcie if alone else "nvidia-smi topo -m gives not the path between all GPUs"
        return
    printed = [[int(path[2:]) if path and path.startswith("NV") else 0 for path in row] for row in paths]
    gpu = _gpu(found)
    others = [one.links for one in with_gpu(found.fields.get("gpu")) if one.links]
    seen = nvlinks.examine(printed, others, gpu.nvlinks if gpu else None)
    if seen.fault:
        found.faults.append(seen.fault)
    if seen.unlike:
        who = f"{', '.join(map(str, seen.unlike))} {'has' if len(seen.unlike) == 1 else 'have'}"
        found.remarks.append(f"GPU {who} no NVLink, and the others have: a choice, or a bridge that is lost")
    shape = nvlinks.shape(seen.links) if seen.links is not None else None
    if seen.links is None or shape is None:
        found.missing["nvlink"] = (
            "the links of the node are not those of the machine" if seen.fault else "of no known shape"
        )
    elif shape == "none":
        found.fields["nvlink"] = {"shape": shape}
    else:
        _put_links(found, gpu, seen.links, shape)


def _gpu(found: Found) -> Gpu | None:
    gpu = resolve_gpu(found.fields.get("gpu"))
    return None if gpu is None else Gpu.model_validate(gpu)


def _put_links(found: Found, gpu: Gpu | None, links: tuple[tuple[int, ...], ...], shape: Shape) -> None:
    """Set the links, with generation and bandwidth of the GPUs' architecture."""
    architecture = ARCHITECTURES[gpu.architecture] if gpu else None
    each = (gpu.nvlink_gbs if gpu else None) or (architecture.nvlink_gbs if architecture else None)
    of_a_gpu = NvLink.model_construct(generation=0, gbs=0, shape=shape, links=links).of_a_gpu
    figures: dict[str, Any] = {}
    if architecture is not None and architecture.nvlink_generation and each:
        figures = {"generation": architecture.nvlink_generation, "gbs": int(of_a_gpu * each)}
        found.remarks.append("nvlink: generation and gbs are those of the GPUs' architecture")
    else:
        found.missing["nvlink: generation, gbs"] = "they follow from the GPUs' model, which is not known"
    found.fields["nvlink"] = {**figures, "shape": shape, "links": [[*row] for row in links]}
