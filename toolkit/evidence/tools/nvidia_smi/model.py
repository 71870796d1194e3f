"""What nvidia-smi prints."""

from pydantic import Field

from core.wording import plural
from toolkit.evidence.host_parser import HostReading
from toolkit.evidence.model import Record


class Gpu(Record):
    """One GPU. A field is None where the output does not have it, or has N/A."""

    index: int | None = None
    name: str | None = Field(default=None, description="as printed: old drivers shorten it")
    uuid: str | None = None
    bus: str | None = Field(default=None, description="PCI address, e.g. 00000000:06:00.0")
    memory_mib: int | None = Field(default=None, description="in all, MiB")
    memory_used_mib: int | None = Field(default=None, description="MiB")
    power_w: float | None = Field(default=None, description="drawn, W")
    power_limit_w: float | None = Field(default=None, description="W")
    temperature_c: int | None = Field(default=None, description="degrees Celsius")
    utilisation_percent: int | None = None
    uncorrected_ecc: int | None = Field(default=None, description="errors; None: no ECC")
    mig: bool | None = Field(default=None, description="whether it is divided (MIG)")


class MigDevice(Record):
    """A part of a divided GPU."""

    gpu: int
    gpu_instance: int
    compute_instance: int
    device: int
    memory_mib: int = Field(description="MiB")


class NvidiaSmi(HostReading):
    """GPUs; tool_version is nvidia-smi's own."""

    driver: str | None = Field(description="version, e.g. 440.33.01")
    cuda: str | None = Field(description="newest CUDA version that the driver can run, e.g. 10.2")
    rows: tuple[Gpu, ...]
    mig_devices: tuple[MigDevice, ...]
    processes: int | None = Field(description="rows of the table of processes; None: it was not printed")
    queries: tuple[str, ...] = Field(description="columns of the CSV form; empty: the table")
    failed: str | None = Field(description="what it printed instead, e.g. No devices were found")

    def _figures(self) -> str:
        name = self.rows[0].name if self.rows else ""
        return f"{plural(len(self.rows), 'GPU')} {name or ''}{f', driver {self.driver}' if self.driver else ''}"
