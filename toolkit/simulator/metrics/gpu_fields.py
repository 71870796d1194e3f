"""What DCGM's fields have of a simulated GPU: its machine's data, whether a job computes on it, and its faults."""

from dataclasses import dataclass

from core.hardware.gpus import Gpu
from core.hardware.measured import MEASURED_GPUS
from toolkit.simulator.performance import nvidia_smi, preflight, random_draws
from toolkit.simulator.performance.job import Machine

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
    return random_draws.draws(gpu.machine.name, gpu.number, gpu.busy, what).randint(*between)
