"""NVIDIA's exporter: its list of fields, and what it writes of a node's GPUs, by its release.

Source: NVIDIA/gpu-monitoring-tools, pkg and etc at the tags 2.0.0-rc.9 to 2.4.0, and NVIDIA/dcgm-exporter. Releases
before 2.4.0 have no Hostname, those before 2.3.0 know no names of 1.x.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from core.apis.client import Object
from core.hardware.gpus import Gpu
from core.hardware.measured import MEASURED_GPUS
from toolkit.simulator import pods
from toolkit.simulator.metrics.exporters import Family, Sample
from toolkit.simulator.performance import nvidia_smi, preflight, smi_reports
from toolkit.simulator.performance.job import Machine
from toolkit.simulator.performance.ports import gpu_address
from toolkit.simulator.performance.printed import seeded

BUSY_PERCENT = (94, 96)
"""Use of GPUs in training."""
BUSY_POWER = 0.95
"""Share of its power limit that a computing GPU draws: assumed, as no document gives it."""
BUSY_MEMORY = 0.9
"""Share of the memory that a computing job holds: frameworks take nearly all of it; assumed."""
BUSY_ACTIVE = {"GR_ENGINE_ACTIVE": 0.95, "PIPE_TENSOR_ACTIVE": 0.4, "DRAM_ACTIVE": 0.5}
"""Shares of time in which parts of a computing GPU are active: assumed."""
IDLE, APPLICATION_CLOCKS, THERMAL = 0x1, 0x2, 0x20
"""Reasons for a lower clock: bits of DCGM's field, those of NVML's nvmlClocksEventReasons."""
SLOWS_ITSELF = 85
"""Degrees Celsius above which the simulated GPU gives its temperature as reason for a lower clock: assumed."""


@dataclass(frozen=True)
class GpuState:
    """A GPU at one moment."""

    machine: Machine
    number: int
    """On the machine."""
    busy: bool
    """Whether a job computes on it."""


def watts(gpu: GpuState) -> float:
    """Return the power that it draws, W."""
    profile = gpu.machine.profile
    if gpu.busy and profile and profile.gpu.watts:
        return profile.gpu.watts * BUSY_POWER
    return float(_draw(gpu, "watts", nvidia_smi.IDLE_WATTS))


def celsius(gpu: GpuState) -> int:
    """Return its temperature, degrees Celsius."""
    usual = _draw(gpu, "degrees", preflight.DEGREES if gpu.busy else nvidia_smi.DEGREES)
    return gpu.machine.faults.celsius.get(gpu.number, usual)


def values(gpu: GpuState, joules: float) -> dict[str, float]:
    """Return field -> value; fields that the GPU does not have are not there. `joules` is its energy since the start.

    Where no document has a clock of the GPU, its fields are not there either.
    """
    profile = gpu.machine.profile
    if profile is None:
        return {}
    memory = nvidia_smi.memory_mib(profile)
    used = int(memory * BUSY_MEMORY) if gpu.busy else 0
    locked = gpu.machine.faults.sm_mhz.get(gpu.number)
    percent = _draw(gpu, "use", BUSY_PERCENT) if gpu.busy else 0
    field_values: dict[str, float] = {
        "DEV_MEMORY_TEMP": celsius(gpu),
        "DEV_GPU_TEMP": celsius(gpu),
        "DEV_POWER_USAGE": watts(gpu),
        "DEV_TOTAL_ENERGY_CONSUMPTION": int(joules * 1000),
        "DEV_GPU_UTIL": percent,
        "DEV_MEM_COPY_UTIL": percent // 2,
        "DEV_XID_ERRORS": 0,
        "DEV_FB_FREE": memory - used,
        "DEV_FB_USED": used,
        **dict.fromkeys(("DEV_CLOCKS_EVENT_REASONS", "DEV_CLOCK_THROTTLE_REASONS"), _reasons(gpu, locked)),
        **dict.fromkeys((f"DEV_{name}" for name in _NEVER), 0),
        **{f"PROF_{name}": share if gpu.busy else 0.0 for name, share in BUSY_ACTIVE.items()},
    }
    if clock := locked or _clock(gpu, profile.gpu):
        field_values["DEV_SM_CLOCK"] = clock
    if profile.gpu.most_memory_mhz:
        field_values["DEV_MEM_CLOCK"] = profile.gpu.most_memory_mhz
    if profile.architecture.remaps_rows:
        field_values |= dict.fromkeys((f"DEV_{name}" for name in _ROWS), 0)
    else:
        field_values |= {"DEV_RETIRED_SBE": 0, "DEV_RETIRED_DBE": 0}
    return {f"DCGM_FI_{name}": value for name, value in field_values.items()}


_NEVER = (
    *("PCIE_REPLAY_COUNTER", "ENC_UTIL", "DEC_UTIL", "VGPU_LICENSE_STATUS"),
    *("ECC_SBE_VOL_TOTAL", "ECC_DBE_VOL_TOTAL", "NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL"),
)
"""Fields that stay 0: nothing of the simulated cluster changes them."""
_ROWS = ("UNCORRECTABLE_REMAPPED_ROWS", "CORRECTABLE_REMAPPED_ROWS", "ROW_REMAP_FAILURE")


def _clock(gpu: GpuState, model: Gpu) -> int | None:
    """Return the clock of its SMs, MHz: under load that which was measured, else the highest."""
    measured = MEASURED_GPUS.get(model.model)
    if measured is None:
        return model.most_sm_mhz
    return measured.loaded_mhz if gpu.busy else measured.most_mhz


def _reasons(gpu: GpuState, locked: int | None) -> int:
    hot = THERMAL if celsius(gpu) > SLOWS_ITSELF else 0
    return (0 if gpu.busy else IDLE) | (APPLICATION_CLOCKS if locked else 0) | hot


def _draw(gpu: GpuState, what: str, between: tuple[int, int]) -> int:
    """Return a figure that stays the same as long as the GPU's state does."""
    return seeded(gpu.machine.name, gpu.number, gpu.busy, what).randint(*between)


COLLECTORS = "DCGM_EXPORTER_COLLECTORS"
"""Variable with the path of the list."""
Kind = Literal["gauge", "counter"]
Release = tuple[int, int]
TODAY: Release = (4, 0)
FIRST_WITH_OLD_NAMES, FIRST_WITH_HOSTNAME = (2, 3), (2, 4)
_OWN_LISTS = re.compile(r"/etc/dcgm-exporter/(default-counters|dcp-metrics-included)\.csv")
_OLD_LIST = "/etc/dcgm-exporter/1.x-compatibility-metrics.csv"
_TAG = re.compile(r":\d+(?:\.\d+)*-(?P<major>\d+)\.(?P<minor>\d+)\.")
_FIELD = re.compile(r"DCGM_FI_\w+")
_LATER = frozenset(
    f"DCGM_FI_DEV_{name}"
    for name in (
        *("UNCORRECTABLE_REMAPPED_ROWS", "CORRECTABLE_REMAPPED_ROWS", "ROW_REMAP_FAILURE"),
        "CLOCKS_EVENT_REASONS",
    )
)
"""Fields that releases 2.0 do not know (bindings/go/dcgm/const.go at 2.0.0-rc.9)."""
_DEFAULT = (
    *("SM_CLOCK", "MEM_CLOCK", "MEMORY_TEMP", "GPU_TEMP", "POWER_USAGE", "GPU_UTIL", "MEM_COPY_UTIL", "ENC_UTIL"),
    *("DEC_UTIL", "XID_ERRORS", "FB_FREE", "FB_USED"),
)
"""Gauges of the image's own lists; what else those have is left out here."""


class ListError(Exception):
    """The exporter exits: its list cannot be used. The text is its message."""


@dataclass(frozen=True)
class Counter:
    """One line of the list."""

    field: str
    kind: Kind
    text: str


@dataclass(frozen=True)
class HeldGpu:
    """A GPU, its energy since the start (J), and the pod that has it."""

    state: GpuState
    joules: float
    holder: Object | None


def release(pod: Object) -> Release:
    """Return major and minor of an exporter, from its image's tag; that of today where the tag has none."""
    match = _TAG.search(pods.image(pod).partition("@")[0])
    return (int(match["major"]), int(match["minor"])) if match else TODAY


def counters(pod: Object, read: Callable[[str], bytes | None]) -> tuple[Counter, ...]:
    """Return the list of an exporter's pod; `read` gives the files that are mounted. Raise ListError as it exits."""
    path = pods.variable(pod, COLLECTORS)
    if path is None or _OWN_LISTS.fullmatch(path):
        return tuple(Counter(f"DCGM_FI_DEV_{name}", "gauge", "a field of the image's own list") for name in _DEFAULT)
    content = read(path)
    if content is None and not (path == _OLD_LIST and release(pod) >= FIRST_WITH_OLD_NAMES):
        raise ListError(f"open {path}: no such file or directory")
    lines = enumerate(csv.reader((content or b"").decode().splitlines()))
    return tuple(_counter(number, line, release(pod)) for number, line in lines if line and not _is_comment(line))


def _is_comment(line: Sequence[str]) -> bool:
    return not line[0].strip() or line[0].lstrip().startswith("#")


def _counter(number: int, line: Sequence[str], exporter: Release) -> Counter:
    if len(line) != 3:  # noqa: PLR2004 - field, kind, help
        raise ListError(f"Malformed CSV record, failed to parse line {number} (`{line}`), expected 3 fields")
    field, kind, text = (column.strip(" ") for column in line)
    if not _FIELD.fullmatch(field) or (field in _LATER and exporter < FIRST_WITH_OLD_NAMES):
        raise ListError(f"Could not find DCGM field {field}")
    if kind not in ("gauge", "counter"):
        raise ListError(f"Could not find Prometheus metry type {kind}")
    return Counter(field, cast("Kind", kind), text)


def families(pod: Object, listed: Iterable[Counter], gpus: Sequence[HeldGpu]) -> Iterator[Family]:
    """Yield what an exporter's pod writes of its node's GPUs: what is on its list, and the GPU has."""
    values_of_gpus = [(_labels(pod, gpu), values(gpu.state, gpu.joules)) for gpu in gpus]
    for counter in listed:
        samples: tuple[Sample, ...] = tuple(
            (labels, fields[counter.field]) for labels, fields in values_of_gpus if counter.field in fields
        )
        yield Family(counter.field, counter.kind, counter.text, samples)


def _labels(pod: Object, gpu: HeldGpu) -> dict[str, str]:
    machine, number = gpu.state.machine, gpu.state.number
    labels = {"gpu": str(number), "UUID": smi_reports.uuid(machine.name, number)}
    if release(pod) >= FIRST_WITH_HOSTNAME and machine.profile:
        labels |= {
            "pci_bus_id": gpu_address(machine.profile, number),
            "device": f"nvidia{number}",
            "modelName": machine.profile.gpu.model,
            "Hostname": machine.name,
            "DCGM_FI_DRIVER_VERSION": machine.driver or "",
        }
    if gpu.holder is not None and pods.variable(pod, "DCGM_EXPORTER_KUBERNETES") != "false":
        meta = gpu.holder["metadata"]
        container = gpu.holder["spec"]["containers"][0]["name"]
        labels |= {"container": container, "namespace": meta["namespace"], "pod": meta["name"]}
    return labels
