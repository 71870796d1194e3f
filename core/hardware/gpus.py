"""GPUs by model, and what their architecture requires of the driver; the data is in `architectures/`."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import Field, computed_field

from core.data_files import DataFiles, read, validate
from core.model import Model

FOLDER = Path(__file__).resolve().parent / "architectures"
Brand = Literal["Tesla", "NVIDIA"]
FIRST_OPEN_BRANCH = 515
"""First driver branch with open kernel modules (NVIDIA driver installation guide, "Kernel Modules")."""
_FIRST_WITH_ROW_REMAPPING = 8
"""Major compute capability, by the documentation of DCGM's fields."""
_FIRST_WITH_TF32 = 8
_MIB_PER_GIB = 1 << 10
_MEMORY_SPREAD = 0.05
"""Part by which drivers differ in the memory that they show of one model: ECC and the driver's own share."""


class Gpu(Model):
    """One GPU of a model. None where the source documents give no figure."""

    model: str = Field(description="as the source document prints it")
    architecture: str = Field(description="generation, which decides drivers and kernel modules")
    compute_capability: str | None = Field(
        default=None, exclude=True, description="as CUDA counts it; None: that of its architecture"
    )
    memory_gb: int = Field(
        gt=0, description="nominal memory, GB; where no source has it, what nvidia-smi shows in whole GiB"
    )
    memory_mib: int | None = Field(default=None, gt=0, description="memory that nvidia-smi shows, MiB")
    memory_gbs: int | None = Field(default=None, gt=0, description="memory bandwidth, GB/s")
    sms: int | None = Field(default=None, gt=0, description="streaming multiprocessors")
    nvlinks: int | None = Field(
        default=None, gt=0, exclude=True, description="NVLinks that it has in every machine; None: a card, with bridges"
    )
    nvlink_gbs: float | None = Field(
        default=None, gt=0, exclude=True, description="of one NVLink, both ways, GB/s; None: that of its architecture"
    )
    watts: int | None = Field(default=None, gt=0, description="power limit, W")
    l2_kib: int | None = Field(default=None, gt=0, exclude=True, description="L2 cache, KiB")
    shared_memory_kib: int | None = Field(
        default=None, gt=0, exclude=True, description="shared memory of a thread block, KiB"
    )
    most_sm_mhz: int | None = Field(default=None, gt=0, exclude=True, description="highest clock of the SMs, MHz")
    most_memory_mhz: int | None = Field(default=None, gt=0, exclude=True, description="highest clock of memory, MHz")
    mig: dict[str, dict[str, int]] = Field(
        default={},
        exclude=True,
        description="MIG configurations of the operator's list -> size of a slice -> slices of that size; empty: it "
        "cannot be divided",
    )
    source: str = Field(default="", exclude=True, description="of the figures")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def mig_instances(self) -> int:
        """Most MIG instances of one GPU; 0 where it cannot be divided."""
        return max((sum(slices.values()) for slices in self.mig.values()), default=0)


class Architecture(Model):
    """A generation of GPUs, as far as the driver and images must know it."""

    name: str
    brand: Brand = Field(description="first word of its GPUs' names in today's driver")
    compute_capability: str = Field(
        pattern=r"^[0-9]+\.[0-9]$", description="as CUDA counts it, e.g. 7.0, of its GPUs that name no other"
    )
    kernel_module: Literal["auto", "open", "proprietary"] = Field(
        description="driver.kernelModuleType of a ClusterPolicy; the open module is not for all GPUs, and some GPUs "
        "accept no other"
    )
    first_driver_branch: int | None = Field(
        gt=0, description="oldest driver branch that knows it: that of the first CUDA that does; None: not known"
    )
    last_driver_branch: int | None = Field(
        description="newest driver branch that still knows it; None: current ones do"
    )
    first_cuda: int = Field(gt=0, description="oldest CUDA major version that knows it")
    first_cuda_minor: int = Field(default=0, ge=0, description="its minor version")
    last_cuda: int | None = Field(description="newest CUDA major version that still knows it; None: current ones do")
    first_nccl: str | None = Field(
        default=None, pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$", description="oldest NCCL that supports it; None: not known"
    )
    nvlink_generation: int | None = Field(
        default=None, gt=0, description="generation of the NVLinks of those of its GPUs that have some; None: none has"
    )
    nvlink_gbs: float | None = Field(default=None, gt=0, description="of one NVLink, both ways, GB/s")
    peer_memory: Literal["nvidia-peermem", "dma-buf"] = Field(description="how an HCA reaches GPU memory (GPUDirect)")
    tensor_precisions: tuple[str, ...] = Field(
        default=(), description="number formats of its tensor cores; empty: no document lists them"
    )
    tensor_factors: Mapping[Literal["training", "inference"], int] = Field(
        default={}, description="by which factor the vendor calls tensor cores faster than the generation before"
    )
    sparsity: int = Field(default=1, gt=0, description="factor by which tensor cores are faster on sparse matrices")
    gpus: Mapping[str, Gpu] = Field(description="its GPUs, by the name that machines use")
    source: str = Field(description="of the figures")

    def accepts_driver(self, version: str, *, open_module: bool = False) -> bool:
        """Say whether a driver such as 580.95.05 drives it; `open_module`: by the open kernel module, for DMA-BUF.

        Raises ValueError for a version without a branch.
        """
        branch = version.partition(".")[0]
        if not branch.isdecimal():
            raise ValueError(f"driver version {version!r} does not start with a branch; write e.g. 580.95.05")
        if open_module and self.kernel_module == "proprietary":
            return False
        first, last = self._first(open_module=open_module), self.last_driver_branch
        return (first is None or first <= int(branch)) and (last is None or int(branch) <= last)

    def branches(self, *, open_module: bool = False) -> str:
        """Return the driver branches that `accepts_driver` accepts, in words."""
        last, first = self.last_driver_branch, self._first(open_module=open_module)
        if first is None:
            return "any" if last is None else f"{last} or older"
        return f"{first} or later" if last is None else f"{last}, or an older one from {first} on"

    @property
    def has_tf32(self) -> bool:
        """Whether its tensor cores compute in TF32, which came with compute capability 8.0."""
        return int(self.compute_capability.partition(".")[0]) >= _FIRST_WITH_TF32

    @property
    def remaps_rows(self) -> bool:
        """Whether its memory replaces broken rows, since compute capability 8.0; older GPUs retire pages."""
        return int(self.compute_capability.partition(".")[0]) >= _FIRST_WITH_ROW_REMAPPING

    def _first(self, *, open_module: bool) -> int | None:
        if open_module or self.kernel_module == "open":
            return max(self.first_driver_branch or 0, FIRST_OPEN_BRANCH)
        return self.first_driver_branch


def read_architecture(path: Path) -> Architecture:
    """Return the architecture of a file, whose name it has; raise DataFileError where the file is wrong."""
    fields: dict[str, Any] = {**read(path), "name": path.stem}
    gpus = fields.get("gpus")
    if isinstance(gpus, dict):
        fields["gpus"] = {
            name: {**gpu, "architecture": path.stem} if isinstance(gpu, dict) else gpu for name, gpu in gpus.items()
        }
    return validate(Architecture, fields, path)


ARCHITECTURES: Mapping[str, Architecture] = DataFiles(FOLDER, read_architecture)
"""Architectures by name; DataFileError where the file of one is wrong."""


def unbranded(name: str) -> str:
    """Return the name of a GPU without its brand, which drivers of other years call otherwise or leave out."""
    return re.sub(rf"^(?:{'|'.join(get_args(Brand))})[ -]", "", name)


def product(label: str) -> str:
    """Return the GPU that a label of GPU feature discovery names, without its brand and what sharing and MIG append."""
    return unbranded(re.sub(r"-(?:SHARED|MIG-.*)$", "", label))


def labelled_text(name: str) -> str:
    """Return a name of a GPU as labels write it, without its brand."""
    return unbranded(name.strip()).replace(" ", "-")


def labelled(gpu: Gpu) -> str:
    """Return the product that the label of a GPU names."""
    return product(gpu.model.replace(" ", "-"))


def architecture_of(name: str) -> Architecture | None:
    """Return the architecture of the GPU that a program prints the name of; None: no file has it."""
    text = labelled_text(name)
    kinds = ARCHITECTURES.values()
    return next((kind for kind in kinds if any(labelled(gpu) == text for gpu in kind.gpus.values())), None)


def gpu_of_short_name(name: str, memory_mib: int) -> str | None:
    """Return `architecture/name` of the GPU whose name nvidia-smi shortened to `name`, which ends with `...`.

    Several names begin alike, so the memory decides; None where it leaves none, or several.
    """
    begin = labelled_text(name.removesuffix("..."))
    candidates = [
        f"{architecture.name}/{key}"
        for architecture in ARCHITECTURES.values()
        for key, gpu in architecture.gpus.items()
        if labelled(gpu).startswith(begin)
        and abs(memory_mib / (gpu.memory_mib or gpu.memory_gb * _MIB_PER_GIB) - 1) < _MEMORY_SPREAD
    ]
    return candidates[0] if len(candidates) == 1 else None


def resolve_gpu(gpu: Any) -> Any:
    """Return the GPU that `architecture/name` means, the name of its file and of one in it; anything else unchanged.

    Raises ValueError, naming the known ones, for an unknown architecture or GPU.
    """
    if not isinstance(gpu, str):
        return gpu
    architecture, _, name = gpu.partition("/")
    if architecture not in ARCHITECTURES:
        raise ValueError(
            f"{gpu!r} is of no known architecture; write architecture/name, of {', '.join(ARCHITECTURES)}, "
            "or the GPU's own fields"
        )
    gpus = ARCHITECTURES[architecture].gpus
    if name not in gpus:
        raise ValueError(f"{architecture} has no GPU {name!r}; known: {', '.join(gpus)}, or write its own fields")
    return gpus[name]
