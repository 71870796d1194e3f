"""How fast a training job is: figures of the documents, and rules for what they do not measure.

docs/reference/performance-model.md explains the rules.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from core.apis.names import SIMULATED
from core.hardware import profiles
from core.hardware.measured import REDPAPER_MACHINE
from core.hardware.measured.training import TCP_RATES, trained
from core.hardware.profiles import Profile
from toolkit.simulator.performance import model, nccl_faults, nccl_log
from toolkit.simulator.performance.communicator import communicator
from toolkit.simulator.performance.job import Launched, Worker
from toolkit.simulator.performance.printed import Printed, seeded

SPREAD = 0.003
"""Standard deviation of a whole job's rate from run to run: an assumption, the paper prints medians of five."""
FEW = 4
"""GPUs up to which pods of one GPU are as fast as pods of several."""


def _of_a_gpu(nodes: int) -> dict[bool, float]:
    return {run.gpus == 1: run.figure / (run.pods * run.gpus) for run in trained("resnet50") if run.nodes == nodes}


ONE_NODE, TWO_NODES = _of_a_gpu(1), _of_a_gpu(2)
"""Images/s of a GPU, ResNet-50 with fp16 and 64 images a step, by whether pods have one GPU."""
SINGLE_GPU_PODS = ONE_NODE[True] / ONE_NODE[False]
"""What pods of one GPU reach of pods of several, of eight GPUs of a node."""
BATCH = 64
XLA = 8104.4 / 6209.9
"""How much faster XLA makes ResNet-50 on eight GPUs of the Redpaper's (README of NVIDIA's example RN50v1.5, 2019)."""
HIDDEN = 2 / 3
"""Share of a step, the backward pass, during which gradients travel unseen: an assumption."""
BYTES_PER_PARAMETER = 4
"""Horovod sends gradients of 32 bits, also of training with 16 (the Redpaper asks for no compression)."""


@dataclass(frozen=True)
class Network:
    """A neural network: what a GPU of the Redpaper makes of it, and how much its gradients are."""

    parameters: float
    rates: Mapping[str, float]
    """Precision -> images/s of one such GPU of eight in a node."""


NETWORKS: Mapping[str, Network] = MappingProxyType(
    {
        # fp32 of ResNet-50: README of NVIDIA's example RN50v1.5 (2019), eight such GPUs: 2778.5 images/s.
        "resnet50": Network(25.6e6, {"fp16": ONE_NODE[False], "fp32": 2778.5 / 8}),
        # Robotic Drive: two GPUs on two nodes over TCP, the rate at step 10.
        "resnet101": Network(44.5e6, {"fp32": TCP_RATES[-1]}),
        # fp16 of NVIDIA's example, whose input is not tf_cnn_benchmarks': the same README, 6209.9 images/s.
        "resnet50v1.5": Network(25.6e6, {"fp16": 6209.9 / 8, "fp32": 2778.5 / 8}),
    }
)


def one_gpu_pods(job: Launched) -> bool:
    """Return whether the pods have one GPU each, and there are more of them on a node than are as fast as one pod."""
    pods: dict[str, set[str]] = {}
    for worker in job.processes:
        pods.setdefault(worker.machine.name, set()).add(worker.name)
    return all(len(worker.gpus) <= 1 for worker in job.processes) and max(map(len, pods.values()), default=0) > FEW


def gpu_factor(profile: Profile | None) -> float:
    """Return how much faster than one of the Redpaper a GPU is: by the bandwidth of its memory."""
    own = profile.gpu.memory_gbs if profile else None
    reference = profiles.profile(REDPAPER_MACHINE).gpu.memory_gbs
    return own / reference if own and reference else 1.0


def unknown(job: Launched) -> list[str]:
    """Return a line for each machine of the job whose speed no source lets calculate."""
    machines = [worker.machine.profile for worker in job.processes or (job.me,)]
    names = sorted({profile.name for profile in machines if profile and profile.gpu.memory_gbs is None})
    return [
        f"{SIMULATED}: no source has the memory bandwidth of {name}'s GPUs; rates are those of the Redpaper's"
        for name in names
    ]


def slowest(job: Launched) -> float:
    """Return the factor of the slowest machine: all ranks wait for it."""
    return min((gpu_factor(worker.machine.profile) for worker in job.processes), default=1.0)


def beside_seconds(job: Launched) -> float:
    """Return what each doubling of nodes added to a step of ResNet-50 in the Redpaper's measurements."""
    single = one_gpu_pods(job)
    nodes = len({worker.machine.name for worker in job.processes}) or 1
    return (BATCH / TWO_NODES[single] - BATCH / ONE_NODE[single]) * math.log2(nodes)


def step_seconds(job: Launched, compute: float, parameters: float, beside: float = 0.0) -> float:
    """Return how long a step takes of which `compute` seconds are the GPU's own.

    It is longer by `beside`, or on a slow network by what the backward pass does not hide of the gradients' exchange.
    """
    group = communicator(job)
    if group is None or len(group.ranks) == 1:
        return compute
    exchange = model.steady_us(group, "all_reduce", int(parameters * BYTES_PER_PARAMETER)) / 1e6
    return compute + max(beside, exchange - HIDDEN * compute)


def images_per_second(job: Launched, network: Network, precision: str, batch: int, *, xla: bool = False) -> float:
    """Return images/s of one rank of the job, before the spread of a run."""
    rates, usual = network.rates, NETWORKS["resnet50"].rates
    rate = rates.get(precision) or rates["fp32"] * usual[precision] / usual["fp32"]
    rate *= slowest(job) * (XLA if xla else 1) * (SINGLE_GPU_PODS if one_gpu_pods(job) else 1)
    return batch / step_seconds(job, batch / rate, network.parameters, beside_seconds(job))


def spread(job: Launched, *what: object) -> float:
    """Return the factor by which this run differs from the median of many."""
    return seeded(job.run, *what).gauss(1, SPREAD)


def joined(job: Launched) -> Printed:
    """Return what the ranks print while they find their GPUs and each other; it ends the job where they do not."""
    group = communicator(job)
    if group is None or not job.processes:
        return _misfit(job) or Printed()
    return nccl_faults.failure(group) or Printed((*unknown(job), *nccl_log.initialisation(group)))


def _misfit(job: Launched) -> Printed | None:
    taken: dict[str, int] = {}
    for worker in job.processes:
        number = taken[worker.name] = taken.get(worker.name, -1) + 1
        if why := _without_gpu(worker, number):
            return Printed((why,), 1, why)
    return None


def _without_gpu(worker: Worker, number: int) -> str | None:
    if not (worker.gpus and worker.machine.has_driver):
        return "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"
    if number >= len(worker.gpus):
        return (
            f"InvalidArgumentError: 'visible_device_list' listed an invalid GPU id '{number}'"
            f" but visible device count is {len(worker.gpus)}"
        )
    return None
