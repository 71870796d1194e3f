"""What GPUs of today's machines did in the test of a node: its limits are shares of that."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from core.data_files import read, validate
from core.model import Model


class MeasuredGpu(Model):
    """Figures of one model of GPU."""

    gpu: str = Field(description="model, as nvidia-smi prints it")
    bf16_tflops: float = Field(gt=0, description="matrix product in bf16, 10^12 operations a second")
    most_mhz: int = Field(gt=0, description="highest clock, MHz, as nvidia-smi prints it")
    loaded_mhz: int = Field(gt=0, description="clock during that product, MHz: its power limit decides it")
    copy_gbs: float = Field(gt=0, description="copy within its memory, GB/s, bytes read and written")
    host_gbs: float = Field(gt=0, description="copy from or to pinned memory of the host, GB/s")
    link_gbs: float = Field(gt=0, description="one copy to another GPU of the machine, GB/s")
    share: float = Field(gt=0, le=1, description="of these, which is enough")
    host_share: float = Field(gt=0, le=1, description="of host_gbs, which is enough: it depends on the host's memory")
    source: str = Field(description="machine, versions and date")


class _File(Model):
    gpus: tuple[MeasuredGpu, ...]


_FILE = Path(__file__).with_suffix(".yaml")
MEASURED_GPUS: Mapping[str, MeasuredGpu] = {row.gpu: row for row in validate(_File, read(_FILE), _FILE).gpus}
"""By model."""
