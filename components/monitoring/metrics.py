"""What NVIDIA's exporter is asked for: metrics by their names of today and of the exporter's releases 2.0 (2020).

Sources: of today NVIDIA/dcgm-exporter, etc/dcp-metrics-included.csv; of 2.0 NVIDIA/gpu-monitoring-tools at its tag
2.0.0-rc.9, bindings/go/dcgm/const.go and etc/dcgm-exporter/default-counters.csv. Such an exporter exits by a field that
it does not know, also by the names dcgm_... of 1.x, which came back with 2.3.0.
"""

import re
from typing import Literal

from pydantic import Field

from components.base.model import Model

Generation = Literal["today", "2.0"]
LIST_FILE = "dcgm-metrics.csv"
"""Key of the list in its ConfigMap, which the GPU Operator looks for."""


class Metric(Model):
    """One field of DCGM, as the exporter has it."""

    name: str = Field(description="today's name, which is that of DCGM's field")
    first: str | None = Field(default=None, description="name in 2.0; None: not there, or not asked for")
    kind: Literal["gauge", "counter"]
    text: str = Field(description="what it is, with its unit; without a comma, which separates the exporter's columns")


_NOT_IN_2_0 = frozenset(
    {
        *("UNCORRECTABLE_REMAPPED_ROWS", "CORRECTABLE_REMAPPED_ROWS", "ROW_REMAP_FAILURE", "VGPU_LICENSE_STATUS"),
        # Metrics of profiling are not asked of it: it exits where the machine does not support them.
        *("GR_ENGINE_ACTIVE", "PIPE_TENSOR_ACTIVE", "DRAM_ACTIVE", "PCIE_TX_BYTES", "PCIE_RX_BYTES"),
    }
)
_OTHER_IN_2_0 = {"CLOCKS_EVENT_REASONS": "CLOCK_THROTTLE_REASONS"}


def _metric(field: str, kind: str, text: str) -> Metric:
    group, _, name = field.partition("_")
    first = None if name in _NOT_IN_2_0 else f"DCGM_FI_{group}_{_OTHER_IN_2_0.get(name, name)}"
    return Metric.model_validate({"name": f"DCGM_FI_{field}", "first": first, "kind": kind, "text": text})


METRICS = (
    _metric("DEV_SM_CLOCK", "gauge", "clock of the multiprocessors (MHz)"),
    _metric("DEV_MEM_CLOCK", "gauge", "clock of the memory (MHz)"),
    _metric("DEV_MEMORY_TEMP", "gauge", "temperature of the memory (degrees Celsius)"),
    _metric("DEV_GPU_TEMP", "gauge", "temperature of the GPU (degrees Celsius)"),
    _metric("DEV_POWER_USAGE", "gauge", "power (W)"),
    _metric("DEV_TOTAL_ENERGY_CONSUMPTION", "counter", "energy since the start (mJ)"),
    _metric("DEV_PCIE_REPLAY_COUNTER", "counter", "packets of PCIe sent again"),
    _metric("DEV_GPU_UTIL", "gauge", "use of the GPU (percent)"),
    _metric("DEV_MEM_COPY_UTIL", "gauge", "use of the memory (percent)"),
    _metric("DEV_XID_ERRORS", "gauge", "last XID"),
    _metric("DEV_FB_FREE", "gauge", "free memory (MiB)"),
    _metric("DEV_FB_USED", "gauge", "memory in use (MiB)"),
    _metric("DEV_NVLINK_BANDWIDTH_TOTAL", "counter", "data over all lanes of NVLink"),
    _metric("DEV_UNCORRECTABLE_REMAPPED_ROWS", "counter", "rows remapped for uncorrectable errors"),
    _metric("DEV_CORRECTABLE_REMAPPED_ROWS", "counter", "rows remapped for correctable errors"),
    _metric("DEV_ROW_REMAP_FAILURE", "gauge", "whether remapping of rows has failed"),
    _metric("DEV_ENC_UTIL", "gauge", "use of the video encoder (percent)"),
    _metric("DEV_DEC_UTIL", "gauge", "use of the video decoder (percent)"),
    _metric("DEV_VGPU_LICENSE_STATUS", "gauge", "status of the licence of a virtual GPU"),
    _metric("PROF_GR_ENGINE_ACTIVE", "gauge", "share of time in which the engines of the GPU were active"),
    _metric("PROF_PIPE_TENSOR_ACTIVE", "gauge", "share of time in which tensor cores were active"),
    _metric("PROF_DRAM_ACTIVE", "gauge", "share of time in which the memory sent or received data"),
    _metric("PROF_PCIE_TX_BYTES", "gauge", "bytes per second sent over PCIe"),
    _metric("PROF_PCIE_RX_BYTES", "gauge", "bytes per second received over PCIe"),
    _metric("DEV_CLOCKS_EVENT_REASONS", "gauge", "why clocks are lowered (bit mask)"),
    _metric("DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "counter", "errors of NVLink"),
    _metric("DEV_ECC_DBE_VOL_TOTAL", "counter", "uncorrectable errors since the driver's start"),
    _metric("DEV_RETIRED_DBE", "counter", "pages of memory retired for uncorrectable errors"),
)
"""The exporter's default list, which a list of one's own replaces, then what alerts need beside it."""

_FIRST = {metric.name: metric.first for metric in METRICS}
_NAME = re.compile(r"\bDCGM_FI_\w+")
_NODE = re.compile(r"\bHostname\b")
_NODE_IN_2_0 = "instance"
"""2.0 writes no label with the node's name; the label of its address has it where the ServiceMonitor puts it there."""


def named(text: str, generation: Generation) -> str | None:
    """Return an expression or a text, written in today's names, in those of a generation; None where it lacks one."""
    if generation == "today":
        return text
    if any(_FIRST[name] is None for name in _NAME.findall(text)):
        return None
    return _NODE.sub(_NODE_IN_2_0, _NAME.sub(lambda match: _FIRST[match[0]] or match[0], text))


def exporter_list(generation: Generation = "today") -> str:
    """Return the list that the exporter reads: one line `field, kind, help` for each metric."""
    names = ((metric.name if generation == "today" else metric.first, metric) for metric in METRICS)
    return "".join(f"{name}, {metric.kind}, {metric.text}\n" for name, metric in names if name)
