"""GPUs: what one of a model is, and what its architecture asks of the driver."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from pydantic import Field

from hardware.model import Model

ArchitectureName = Literal["volta", "ampere"]

FIRST_OPEN_BRANCH = 515
"""First driver branch with open kernel modules (NVIDIA driver installation guide, "Kernel Modules")."""


class Architecture(Model):
    """A generation of GPUs, as far as the driver and images must know it (source: platform-facts 1.1)."""

    name: ArchitectureName
    compute_capability: str = Field(description="as CUDA counts it, e.g. 7.0")
    kernel_module: Literal["auto", "proprietary"] = Field(
        description="driver.kernelModuleType of a ClusterPolicy; the open module needs Turing or later"
    )
    first_driver_branch: int = Field(
        gt=0, description="oldest driver branch that knows it: that of the first CUDA that does"
    )
    last_driver_branch: int | None = Field(
        description="newest driver branch that still knows it; None: current ones do"
    )
    first_cuda: int = Field(gt=0, description="oldest CUDA major version that knows it")
    last_cuda: int | None = Field(description="newest CUDA major version that still knows it; None: current ones do")
    peer_memory: Literal["nvidia-peermem", "dma-buf"] = Field(description="how an HCA reaches GPU memory (GPUDirect)")

    def accepts_driver(self, version: str, *, open_module: bool = False) -> bool:
        """Say whether a driver such as 580.95.05 drives it; `open_module`: by the open kernel module, for DMA-BUF.

        Raises ValueError for a version without a branch.
        """
        branch = version.partition(".")[0]
        if not branch.isdecimal():
            raise ValueError(f"driver version {version!r} does not start with a branch; write e.g. 580.95.05")
        if open_module and self.kernel_module == "proprietary":
            return False
        last = self.last_driver_branch
        return self._first(open_module=open_module) <= int(branch) and (last is None or int(branch) <= last)

    def branches(self, *, open_module: bool = False) -> str:
        """Return the driver branches that `accepts_driver` accepts, in words."""
        last, first = self.last_driver_branch, self._first(open_module=open_module)
        return f"{first} or later" if last is None else f"{last}, or an older one from {first} on"

    def _first(self, *, open_module: bool) -> int:
        return max(self.first_driver_branch, FIRST_OPEN_BRANCH) if open_module else self.first_driver_branch


# Oldest drivers: CUDA 9.0 needs 384.81, CUDA 11.0 needs 450.36.06 (NVIDIA's release notes of CUDA 11.0, table 2).
VOLTA = Architecture(
    name="volta",
    compute_capability="7.0",
    kernel_module="proprietary",
    first_driver_branch=384,
    last_driver_branch=580,
    first_cuda=9,
    last_cuda=12,
    peer_memory="nvidia-peermem",
)
AMPERE = Architecture(
    name="ampere",
    compute_capability="8.0",
    kernel_module="auto",
    first_driver_branch=450,
    last_driver_branch=None,
    first_cuda=11,
    last_cuda=None,
    peer_memory="dma-buf",
)
ARCHITECTURES: Mapping[ArchitectureName, Architecture] = MappingProxyType(
    {known.name: known for known in (VOLTA, AMPERE)}
)


class Gpu(Model):
    """One GPU of a model. None where the source documents give no figure."""

    model: str = Field(description="as the source document prints it")
    architecture: ArchitectureName = Field(description="generation, which decides drivers and kernel modules")
    memory_gb: int = Field(gt=0, description="nominal memory, GB")
    memory_mib: int | None = Field(default=None, gt=0, description="memory that nvidia-smi shows, MiB")
    memory_gbs: int | None = Field(default=None, gt=0, description="memory bandwidth, GB/s")
    sms: int | None = Field(default=None, gt=0, description="streaming multiprocessors")
    watts: int | None = Field(default=None, gt=0, description="power limit, W")
    mig_instances: int = Field(default=0, ge=0, description="most MIG instances; 0: cannot be divided")


V100_SXM2_16GB = Gpu(
    # R-4.4-2 (memory, W; the name as nccl-tests prints it), D-2.1
    model="Tesla V100-SXM2-16GB",
    architecture="volta",
    memory_gb=16,
    memory_mib=16160,
    memory_gbs=900,
    sms=80,
    watts=300,
)
V100_SXM2_32GB = Gpu(
    # S-2.1, D-2.1; what nvidia-smi shows and the power limit are given for the 16 GB model only
    model="Tesla V100 SXM2 32GB",
    architecture="volta",
    memory_gb=32,
    memory_gbs=900,
    sms=80,
)
V100_SXM3_32GB_H = Gpu(
    # D-2.3
    model="V100-SXM3-32GB-H",
    architecture="volta",
    memory_gb=32,
    memory_gbs=1134,
    sms=80,
    watts=450,
)
A100_SXM4_40GB = Gpu(
    # D-2.3, D-2.7; bandwidth 1555 and not the rounded 1600 (E-57)
    model="A100-SXM4-40GB",
    architecture="ampere",
    memory_gb=40,
    memory_gbs=1555,
    sms=108,
    watts=400,
    mig_instances=7,
)
