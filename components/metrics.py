"""What NVIDIA's exporter is asked for: metrics by their names of today and of the exporter's versions 1.x (2020).

Sources: NVIDIA/dcgm-exporter, etc/dcp-metrics-included.csv and etc/1.x-compatibility-metrics.csv; the names of V100's
memory errors in 1.x are those that the exporter 1.7 prints (`dcgm_retired_pages_dbe`, `dcgm_ecc_dbe_volatile_total`).
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
    listed: bool = Field(default=True, description="whether the exporter's default list has it")


METRICS = tuple(
    Metric.model_validate(
        {
            "name": f"DCGM_FI_DEV_{name}",
            "first": first and f"dcgm_{first}",
            "kind": kind,
            "text": text,
            "listed": listed,
        }
    )
    for name, first, kind, text, listed in (
        ("SM_CLOCK", "sm_clock", "gauge", "clock of the multiprocessors (MHz)", True),
        ("MEM_CLOCK", "memory_clock", "gauge", "clock of the memory (MHz)", True),
        ("MEMORY_TEMP", "memory_temp", "gauge", "temperature of the memory (degrees Celsius)", True),
        ("GPU_TEMP", "gpu_temp", "gauge", "temperature of the GPU (degrees Celsius)", True),
        ("POWER_USAGE", "power_usage", "gauge", "power (W)", True),
        ("TOTAL_ENERGY_CONSUMPTION", "total_energy_consumption", "counter", "energy since the start (mJ)", True),
        ("PCIE_REPLAY_COUNTER", "pcie_replay_counter", "counter", "packets of PCIe sent again", True),
        ("GPU_UTIL", "gpu_utilization", "gauge", "use of the GPU (percent)", True),
        ("MEM_COPY_UTIL", "mem_copy_utilization", "gauge", "use of the memory (percent)", True),
        ("XID_ERRORS", "xid_errors", "gauge", "last XID", True),
        ("FB_FREE", "fb_free", "gauge", "free memory (MiB)", True),
        ("FB_USED", "fb_used", "gauge", "memory in use (MiB)", True),
        ("NVLINK_BANDWIDTH_TOTAL", "nvlink_bandwidth_total", "counter", "data over all lanes of NVLink", True),
        ("UNCORRECTABLE_REMAPPED_ROWS", None, "counter", "rows remapped for uncorrectable errors", True),
        ("CORRECTABLE_REMAPPED_ROWS", None, "counter", "rows remapped for correctable errors", True),
        ("ROW_REMAP_FAILURE", None, "gauge", "whether remapping of rows has failed", True),
        ("CLOCKS_EVENT_REASONS", None, "gauge", "why clocks are lowered (bit mask)", False),
        (
            "NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL",
            "nvlink_crc_flit_error_count_total",
            "counter",
            "errors of NVLink",
            False,
        ),
        (
            "ECC_DBE_VOL_TOTAL",
            "ecc_dbe_volatile_total",
            "counter",
            "uncorrectable errors since the driver's start",
            False,
        ),
        ("RETIRED_DBE", "retired_pages_dbe", "counter", "pages of memory retired for uncorrectable errors", False),
    )
)
"""All metrics of alerts and dashboards, and the rest of the exporter's default list that concerns training."""

_FIRST = {each.name: each.first for each in METRICS}
_NAME = re.compile(r"\bDCGM_FI_DEV_\w+")


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
