"""What NVIDIA's exporter is asked for: metrics by their names of today and of the exporter's versions 1.x (2020).

Source of today's names and of the default list: NVIDIA/dcgm-exporter, etc/dcp-metrics-included.csv. Names of 1.x are
those of public manifests and outputs of 2020, not all of which were compared with the exporter's own list.
"""

import re
from typing import Literal

from pydantic import Field

from components.model import Model

Generation = Literal["today", "1.x"]


class Metric(Model):
    """One field of DCGM, as the exporter has it."""

    name: str = Field(description="today's name, which is that of DCGM's field")
    first: str | None = Field(default=None, description="name in 1.x; None: not there, or no source has its name")
    kind: Literal["gauge", "counter"]
    text: str = Field(description="what it is, with its unit; without a comma, which separates the exporter's columns")


METRICS = tuple(
    Metric.model_validate(
        {
            "name": f"DCGM_FI_{name}" if name.startswith("PROF_") else f"DCGM_FI_DEV_{name}",
            "first": first and f"dcgm_{first}",
            "kind": kind,
            "text": text,
        }
    )
    for name, first, kind, text in (
        ("SM_CLOCK", "sm_clock", "gauge", "clock of the multiprocessors (MHz)"),
        ("MEM_CLOCK", "memory_clock", "gauge", "clock of the memory (MHz)"),
        ("MEMORY_TEMP", "memory_temp", "gauge", "temperature of the memory (degrees Celsius)"),
        ("GPU_TEMP", "gpu_temp", "gauge", "temperature of the GPU (degrees Celsius)"),
        ("POWER_USAGE", "power_usage", "gauge", "power (W)"),
        ("TOTAL_ENERGY_CONSUMPTION", "total_energy_consumption", "counter", "energy since the start (mJ)"),
        ("PCIE_REPLAY_COUNTER", "pcie_replay_counter", "counter", "packets of PCIe sent again"),
        ("GPU_UTIL", "gpu_utilization", "gauge", "use of the GPU (percent)"),
        ("MEM_COPY_UTIL", "mem_copy_utilization", "gauge", "use of the memory (percent)"),
        ("XID_ERRORS", "xid_errors", "gauge", "last XID"),
        ("FB_FREE", "fb_free", "gauge", "free memory (MiB)"),
        ("FB_USED", "fb_used", "gauge", "memory in use (MiB)"),
        ("NVLINK_BANDWIDTH_TOTAL", "nvlink_bandwidth_total", "counter", "data over all lanes of NVLink"),
        ("UNCORRECTABLE_REMAPPED_ROWS", None, "counter", "rows remapped for uncorrectable errors"),
        ("CORRECTABLE_REMAPPED_ROWS", None, "counter", "rows remapped for correctable errors"),
        ("ROW_REMAP_FAILURE", None, "gauge", "whether remapping of rows has failed"),
        ("ENC_UTIL", None, "gauge", "use of the video encoder (percent)"),
        ("DEC_UTIL", None, "gauge", "use of the video decoder (percent)"),
        ("VGPU_LICENSE_STATUS", None, "gauge", "status of the licence of a virtual GPU"),
        ("PROF_GR_ENGINE_ACTIVE", None, "gauge", "share of time in which the engines of the GPU were active"),
        ("PROF_PIPE_TENSOR_ACTIVE", None, "gauge", "share of time in which tensor cores were active"),
        ("PROF_DRAM_ACTIVE", None, "gauge", "share of time in which the memory sent or received data"),
        ("PROF_PCIE_TX_BYTES", None, "gauge", "bytes per second sent over PCIe"),
        ("PROF_PCIE_RX_BYTES", None, "gauge", "bytes per second received over PCIe"),
        ("CLOCKS_EVENT_REASONS", None, "gauge", "why clocks are lowered (bit mask)"),
        ("NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "nvlink_crc_flit_error_count_total", "counter", "errors of NVLink"),
        ("ECC_DBE_VOL_TOTAL", "ecc_dbe_volatile_total", "counter", "uncorrectable errors since the driver's start"),
        ("RETIRED_DBE", "retired_pages_dbe", "counter", "pages of memory retired for uncorrectable errors"),
    )
)
"""The exporter's default list, which a list of one's own replaces, then what alerts need beside it."""

_FIRST = {each.name: each.first for each in METRICS}
_NAME = re.compile(r"\bDCGM_FI_\w+")


def named(expression: str, generation: Generation) -> str | None:
    """Return an expression, written in today's names, in those of a generation; None where that lacks one of them."""
    if generation == "today":
        return expression
    if any(_FIRST[name] is None for name in _NAME.findall(expression)):
        return None
    return _NAME.sub(lambda found: _FIRST[found[0]] or found[0], expression)


def exporter_list() -> str:
    """Return the list that the exporter reads: one line `field, kind, help` for each metric."""
    return "".join(f"{each.name}, {each.kind}, {each.text}\n" for each in METRICS)
