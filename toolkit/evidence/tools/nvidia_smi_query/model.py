"""What `nvidia-smi -q` prints of a node."""

from pydantic import Field

from core.model import Model
from core.wording import plural
from toolkit.evidence.host_parser import HostReading


class QueriedGpu(Model):
    """One GPU of `nvidia-smi -q`. None: not printed, or N/A."""

    bus: str = Field(description="PCI address, e.g. 00000000:18:00.0")
    name: str | None = None
    architecture: str | None = Field(default=None, description="generation of the GPUs")
    uuid: str | None = None
    memory_mib: int | None = Field(default=None, description="in all, MiB")
    used_mib: int | None = Field(default=None, description="in use, MiB")
    ecc: str | None = Field(default=None, description="Enabled or Disabled, now")
    uncorrected: int | None = Field(default=None, description="uncorrectable memory errors since the last restart")
    remap_pending: bool | None = Field(default=None, description="whether rows wait to be remapped at the next reset")
    remap_failed: bool | None = Field(default=None, description="whether a row could not be remapped")
    sm_mhz: int | None = Field(default=None, description="clock of the multiprocessors now, MHz")
    most_mhz: int | None = Field(default=None, description="their highest clock, MHz")
    reasons: tuple[str, ...] = Field(default=(), description="why clocks are lower now, as printed, without Idle")
    pcie: int | None = Field(default=None, description="generation of its PCIe link now: lower while it rests")
    most_pcie: int | None = Field(default=None, description="the highest that GPU and slot can")
    width: int | None = Field(default=None, description="lanes of its PCIe link now")
    most_width: int | None = Field(default=None, description="the most that GPU and slot can")
    power_w: float | None = Field(default=None, description="drawn, in the mean of a second, W")
    power_limit_w: float | None = Field(default=None, description="limit now, W")
    default_limit_w: float | None = Field(default=None, description="limit as delivered, W")
    celsius: int | None = Field(default=None, description="temperature of the GPU, degrees C")
    fabric: str | None = Field(default=None, description="state of its registration with NVSwitches, e.g. Completed")
    line: int


class NvidiaSmiQuery(HostReading):
    """What `nvidia-smi -q` prints."""

    attached: int | None = Field(description="GPUs of the node, of which -i may select some")
    rows: tuple[QueriedGpu, ...]

    def figures(self) -> str:
        """Return the few figures that a table has room for."""
        drawn = sum(row.power_w or 0 for row in self.rows)
        return plural(len(self.rows), "GPU") + (f", {drawn:.0f} W" if drawn else "")
