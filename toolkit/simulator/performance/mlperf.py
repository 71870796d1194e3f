"""MLPerf Training v0.6: run_and_time.sh of NVIDIA's four PyTorch benchmarks."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType

from core.apis.names import SIMULATED
from core.hardware.measured import SUPERMICRO_MACHINE
from core.hardware.measured.training import MLPERF_BAND, submission
from toolkit.simulator.performance import training
from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.printed import Printed, seeded

GPUS, MEMORY_GB = 8, 32
"""What the parameters are for."""
SPREAD = 0.002
RULE = "%Y-%m-%d %I:%M:%S %p"
Quality = Mapping[str, float]


@dataclass(frozen=True)
class Benchmark:
    """One of them."""

    name: str
    """As it was submitted."""
    result: str
    minutes: float
    """Of NVIDIA's own machine (row 0.6-9)."""
    faster: float
    """By how much the Supermicro reference's machine was faster; a middle where the document gives a range."""
    epochs: int
    """To the target: of Transformer as in NVIDIA's log of the round, the others are assumed."""
    target: Quality
    """Quality at which a run stops (rules of MLPerf Training v0.6)."""
    batch: int | None
    """Of a step of all GPUs, as in NVIDIA's logs of the round; None: not looked up."""


_MINUTES = submission().minutes
_SLOWEST, _FASTEST = MLPERF_BAND.least, MLPERF_BAND.most
_MIDDLE = (-0.0005 + _SLOWEST) / 2
_DETECTED = {"BBOX": 0.377, "SEGM": 0.339}
BENCHMARKS: Mapping[str, Benchmark] = MappingProxyType(
    {
        "mask": Benchmark("maskrcnn", "OBJECT_DETECTION", _MINUTES["maskrcnn"], _FASTEST, 13, _DETECTED, None),
        "ssd": Benchmark("ssd", "SINGLE_STAGE_DETECTOR", _MINUTES["ssd"], _MIDDLE, 49, {"accuracy": 0.23}, 960),
        "gnmt": Benchmark("gnmt", "RNN_TRANSLATOR", _MINUTES["gnmt"], _SLOWEST, 3, {"accuracy": 24.0}, None),
        "transformer": Benchmark(
            "transformer", "transformer", _MINUTES["transformer"], _MIDDLE, 3, {"accuracy": 25.0}, 81920
        ),
    }
)
"""Part of the name of an image or a job -> benchmark."""


def run_and_time(_words: Sequence[str], job: Launched) -> Printed:
    """Simulate the script: which benchmark it is, is in the image; here it is read from the names of image and job."""
    text = f"{job.image} {job.me.name} {job.environment.get('BENCHMARK', '')}".lower()
    benchmark = next((candidate for part, candidate in BENCHMARKS.items() if part in text), None)
    if benchmark is None:
        return Printed((f"{SIMULATED}: neither image nor job is named after a benchmark of MLPerf",))
    profile = job.me.machine.profile
    if profile is None or not job.me.machine.has_driver or len(job.me.gpus) < GPUS:
        why = f"RuntimeError: CUDA error: invalid device ordinal ({len(job.me.gpus)} GPUs of {GPUS})"
        return Printed((why,), 1, why)
    if profile.gpu.memory_gb < MEMORY_GB:
        why = f"RuntimeError: CUDA out of memory. GPU 0; {profile.gpu.memory_gb:.2f} GiB total capacity"
        return Printed((why,), 1, why)
    return Printed((*training.unknown(job), *_run(benchmark, job)))


def minutes(benchmark: Benchmark, job: Launched) -> float:
    """Return how long a run takes on the pod's machine."""
    profile = job.me.machine.profile
    measured = benchmark.faster if profile and profile.name == SUPERMICRO_MACHINE else 0.0
    faster = measured + seeded(job.run, benchmark.name).gauss(0, SPREAD)
    return (
        benchmark.minutes / (1 + min(max(faster, MLPERF_BAND.least), MLPERF_BAND.most)) / training.gpu_factor(profile)
    )


def _run(benchmark: Benchmark, job: Launched) -> list[str]:
    seconds = minutes(benchmark, job) * 60
    begin, clock = job.started, job.started.timestamp()
    draw = seeded(job.run, benchmark.name, "quality")

    def event(after: float, key: str, value: object = None, **metadata: object) -> str:
        content = {"value": value, "metadata": {**metadata, "file": "train.py", "lineno": 0}}
        return f":::MLL {clock + after:.3f} {key}: {json.dumps(content)}"

    start = 22.0
    lines = [
        f"STARTING TIMING RUN AT {begin:{RULE}}",
        event(0, "submission_benchmark", benchmark.name),
        event(0, "submission_division", "closed"),
        event(1, "init_start"),
        event(4, "seed", draw.randrange(1 << 31)),
        *([event(8, "global_batch_size", benchmark.batch)] if benchmark.batch else []),
        event(start, "init_stop"),
        event(start, "run_start"),
    ]
    for epoch in range(1, benchmark.epochs + 1):
        end = start + seconds * epoch / benchmark.epochs
        part = epoch / benchmark.epochs
        # It rises quickly and then slowly, and crosses the target with the last epoch.
        reached = 1.004 if epoch == benchmark.epochs else 0.994 * part**0.25 - draw.uniform(0, 0.004)
        quality = {name: round(target * reached, 5) for name, target in benchmark.target.items()}
        value = quality.get("accuracy", quality)
        lines += [
            event(start + seconds * (epoch - 1) / benchmark.epochs, "epoch_start", epoch_num=epoch),
            event(end - 0.2, "epoch_stop", epoch_num=epoch),
            event(end - 0.1, "eval_accuracy", value, epoch_num=epoch),
        ]
    whole = round(start + seconds + 3)
    return [
        *lines,
        event(start + seconds, "run_stop", status="success"),
        f"ENDING TIMING RUN AT {begin + timedelta(seconds=whole):{RULE}}",
        f"RESULT,{benchmark.result},,{whole},nvidia,{begin:{RULE}}",
    ]
