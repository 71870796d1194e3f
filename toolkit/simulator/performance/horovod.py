"""Horovod's pytorch_synthetic_benchmark.py: rank 0 prints the rates."""

from collections.abc import Sequence

from toolkit.simulator.performance import random_draws, training
from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.options import number, options
from toolkit.simulator.performance.printed import Printed

BATCH, ITERATIONS = 32, 10
MOST = 1000
DEVIATION = 0.004


def synthetic(words: Sequence[str], job: Launched) -> Printed:
    """Simulate the benchmark. Its rates are those of ResNet-50 with 32 bits: no document prints this program's."""
    arguments = options(words)
    joined = training.joined(job)
    if joined.exit_code:
        return joined
    ranks = max(len(job.processes), 1)
    batch = number(arguments, "batch-size", BATCH)
    name = arguments.get("model", "resnet50")
    network = training.NETWORKS.get(name, training.NETWORKS["resnet50"])
    rate = training.images_per_second(job, network, "fp32", batch) * training.spread(job, "synthetic")
    draw = random_draws.draws(job.run, "synthetic", "iterations")
    rates = [rate * draw.gauss(1, DEVIATION) for _ in range(number(arguments, "num-iters", ITERATIONS))[:MOST]]
    mean = sum(rates) / len(rates)
    around = 1.96 * (sum((figure - mean) ** 2 for figure in rates) / len(rates)) ** 0.5
    return Printed(
        (
            *joined.lines,
            f"Model: {name}",
            f"Batch size: {batch}",
            f"Number of GPUs: {ranks}",
            "Running warmup...",
            "Running benchmark...",
            *(f"Iter #{at}: {figure:.1f} img/sec per GPU" for at, figure in enumerate(rates)),
            f"Img/sec per GPU: {mean:.1f} +-{around:.1f}",
            f"Total img/sec on {ranks} GPU(s): {ranks * mean:.1f} +-{ranks * around:.1f}",
        )
    )
