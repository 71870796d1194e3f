"""The test of a node (program preflight): what the node's profile and its faults make of each line.

Figures of GPUs that were measured are those of core/hardware/measured/gpus.yaml; of others there are none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from core.apis.names import SIMULATED
from core.hardware.measured import MEASURED_GPUS, MeasuredGpu
from core.hardware.profiles import Profile
from toolkit.simulator.performance import nvidia_smi, ports
from toolkit.simulator.performance.job import Launched, NodeFaults, Worker
from toolkit.simulator.performance.listings import MEMLOCK_KIB
from toolkit.simulator.performance.printed import Printed, seeded

TORCH, CUDA = "2.11.0+cu130", "13.0"
SECONDS_PER_GPU = 2.5
"""What two GPUs took: 5.0 to 5.3 s (docs/guide/gpus.md)."""
SPREAD = 0.005
"""Standard deviation of a rate: those of core/hardware/measured/gpus.yaml differ by as much between runs."""
FULL_WIDTH = 16
PCIE_GENERATION = {2: 3, 3: 4, 4: 5, 5: 5}
"""Generation of a machine's NVLink -> generation of PCIe that its GPUs have."""
LINK_GB_S = {2: 25.781, 3: 25.0, 4: 26.562, 5: 50.0}
"""Generation of NVLink -> GB/s of a link, each way, as nvidia-smi prints it."""
DEGREES = (49, 58)
"""Degrees C under load, of ten runs."""
NO_MEMORY, BAD_ADDRESS = "Cannot_allocate_memory", "Bad_address"
"""Errors of ibv_reg_mr: ENOMEM over the limit of locked memory, EFAULT where nothing knows memory of a GPU."""
POWER_CAP, NONE = "0x0000000000000004", "0x0000000000000000"
NOT_READY = (
    "Unexpected_error_from_cudaGetDeviceCount()._Did_you_run_some_cuda_functions_before_calling_NumCudaDevices()_that_"
    "might_have_already_set_an_error?_Error_802:_system_not_yet_initialized"
)
"""What PyTorch says on NVSwitches without a Fabric Manager: CUDA's cudaErrorSystemNotReady."""


def preflight(_words: Sequence[str], job: Launched) -> Printed:
    """Simulate stacks/scripts/preflight.py."""
    me, profile = job.me, job.me.machine.profile
    gpus = me.gpus if me.machine.has_driver else ()
    lines = [f"preflight begins node={me.name} gpus={len(gpus)} torch={TORCH} cuda={CUDA}", *_host(me)]
    if profile is not None:
        lines += _tests([_Gpu(job, profile, index, gpu) for index, gpu in enumerate(gpus)])
    return Printed((*lines, f"preflight ends node={me.name} seconds={SECONDS_PER_GPU * len(gpus):.1f}"))


def _host(me: Worker) -> Iterator[str]:
    machine = me.machine
    locked = "unlimited" if machine.memlock_unlimited else str(MEMLOCK_KIB)
    cpus = machine.profile.cpus if machine.profile else 1
    yield f"preflight host memlock_kib={locked} shm_mib={me.shm_mib} uverbs={len(me.devices)} cpus={cpus}"
    for hca in ports.in_order(machine.hcas):
        up = machine.is_up(hca.name)
        state, rate = ("ACTIVE", hca.rate_gbps) if up else ("DOWN", ports.RATE_WITHOUT_LINK)
        yield f"preflight hca {hca.name} port=1 state={state} gbps={rate}"


@dataclass(frozen=True)
class _Gpu:
    """One GPU of the pod."""

    job: Launched
    profile: Profile
    index: int
    """Its number in the pod."""
    number: int
    """Its number on the machine."""

    @property
    def faults(self) -> NodeFaults:
        return self.job.me.machine.faults

    @property
    def measured(self) -> MeasuredGpu | None:
        return MEASURED_GPUS.get(self.profile.gpu.model)

    @property
    def starts(self) -> bool:
        """Whether CUDA starts: behind NVSwitches it needs the Fabric Manager."""
        return self.faults.fabric_manager or self.profile.nvlink.shape != "switched"

    @property
    def lanes(self) -> int:
        return self.faults.pcie_width.get(self.number, FULL_WIDTH)

    @property
    def nvlinks(self) -> int:
        """Links that are up."""
        return self.profile.nvlink.of_a_gpu - self.faults.nvlinks_in_recovery.get(self.number, 0)

    @property
    def linked(self) -> float:
        """Part of its links that is up."""
        return self.nvlinks / max(self.profile.nvlink.of_a_gpu, 1)

    def spread(self, *of: object) -> float:
        """Return a factor for a rate: hardware is slower now and then, and hardly ever faster."""
        draw = seeded(self.job.run, "preflight", self.number, *of)
        return 1 + max(-3.0, min(1.0, draw.gauss(0, 1))) * SPREAD


def _tests(gpus: Sequence[_Gpu]) -> Iterator[str]:
    pairs = list(permutations(gpus, 2))
    if not all(gpu.starts for gpu in gpus):
        for gpu in gpus:
            yield from (f"preflight failed {test} {gpu.index} why={NOT_READY}" for test in ("facts", "load", "memory"))
        yield from (f"preflight failed link {source.index}-{target.index} why={NOT_READY}" for source, target in pairs)
        return
    if unknown := next((gpu.profile.gpu.model for gpu in gpus if gpu.measured is None), None):
        yield f"{SIMULATED}: no {unknown} was measured, so that its rates are none"
    for gpu in gpus:
        yield from (_facts(gpu), _load(gpu), _memory(gpu))
    yield from _gpudirect(gpus)
    yield from (_link(source, target) for source, target in pairs)


def _facts(gpu: _Gpu) -> str:
    profile = gpu.profile
    watts = f"{profile.gpu.watts:.2f}" if profile.gpu.watts else "none"
    mig = "Disabled" if profile.gpu.mig_instances else "none"
    return (
        f"preflight gpu {gpu.index} name={profile.gpu.model.replace(' ', '_')} "
        f"memory_mib={nvidia_smi.memory_mib(profile)} used_mib=4 ecc=Enabled uncorrected=0 remap_pending=No "
        f"remap_failed=No power_limit_w={watts} default_limit_w={watts} driver={gpu.job.me.machine.driver or 'none'} "
        f"mig={mig} nvlinks={gpu.nvlinks}x{LINK_GB_S.get(profile.nvlink.generation, 0):g}"
    )


def _load(gpu: _Gpu) -> str:
    measured, watts = gpu.measured, gpu.profile.gpu.watts
    rate, clock, most, part = "none", "none", "none", 1.0
    if measured is not None:
        part = min(gpu.faults.sm_mhz.get(gpu.number, measured.loaded_mhz) / measured.loaded_mhz, 1.0)
        rate = f"{measured.bf16_tflops * gpu.spread('load') * part:.1f}"
        clock, most = f"{measured.loaded_mhz * part:.0f}", str(measured.most_mhz)
    power = f"{watts * part:.2f}" if watts else "none"
    usual = seeded(gpu.job.run, "degrees", gpu.number).randint(*DEGREES)
    degrees = gpu.faults.celsius.get(gpu.number, usual)
    generation = PCIE_GENERATION.get(gpu.profile.nvlink.generation, "none")
    return (
        f"preflight load {gpu.index} tflops={rate} sm_mhz={clock} most_mhz={most} power_w={power} celsius={degrees} "
        f"reasons={NONE if part < 1 else POWER_CAP} pcie={generation} pcie_most={generation} width={gpu.lanes} "
        f"width_most={FULL_WIDTH}"
    )


def _memory(gpu: _Gpu) -> str:
    measured = gpu.measured
    if measured is None:
        return f"preflight memory {gpu.index} copy_gbs=none to_gpu_gbs=none from_gpu_gbs=none"
    down, up = (f"{measured.host_gbs * gpu.lanes / FULL_WIDTH * gpu.spread(way):.1f}" for way in ("down", "up"))
    copied = f"{measured.copy_gbs * gpu.spread('memory'):.0f}"
    return f"preflight memory {gpu.index} copy_gbs={copied} to_gpu_gbs={down} from_gpu_gbs={up}"


def _gpudirect(gpus: Sequence[_Gpu]) -> Iterator[str]:
    """Yield what each device of the pod registers: by the kernel's own way, or by the module where that is older."""
    for hca in gpus[0].job.me.devices if gpus else ():
        for gpu in gpus:
            machine = gpu.job.me.machine
            if not gpu.job.me.may_pin:
                outcome = f"how=none why=peermem:_{NO_MEMORY}"
            elif not machine.gpudirect:
                outcome = f"how=none why=peermem:_{BAD_ADDRESS}"
            else:
                by_kernel = gpu.profile.architecture.peer_memory == "dma-buf"
                outcome = f"how={'dmabuf' if by_kernel else 'peermem'} why=none"
            yield f"preflight gpudirect {hca} {gpu.index} {outcome}"


def _link(gpu: _Gpu, other: _Gpu) -> str:
    joined, measured = gpu.profile.nvlink.joins(gpu.number, other.number), gpu.measured
    rate = "none"
    if measured is not None and joined:
        rate = f"{measured.link_gbs * min(gpu.linked, other.linked) * gpu.spread('link', other.number):.1f}"
    return f"preflight link {gpu.index} {other.index} peer={'yes' if joined else 'no'} gbs={rate}"
