"""Horovod's benchmarks: tf_cnn_benchmarks, where every rank prints its rate, and pytorch_synthetic_benchmark.py."""

from collections.abc import Mapping, Sequence
from random import Random

from core.apis.names import SIMULATED
from toolkit.simulator.performance import training
from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.printed import Printed, number, on, options, seeded

STEPS, EVERY = 100, 10
"""Steps, and how many of them there are between two lines: its defaults."""
MOST = 1000
"""Lines of steps of a rank; of a longer run the last ones."""
IMAGENET = 1_281_167
TENSORFLOW = {
    "20.03-tf2-py3": "2.1",
    "24.03-tf2-py3": "2.15",
    "25.02-tf2-py3": "2.17",
    "23.03-tf1-py3": "1.15",
    "19.10-py3": "1.14",
}
"""Tag of NVIDIA's image -> TensorFlow (release notes of the images; of 25.02 general knowledge)."""
JITTER = 0.004
"""Of single steps: an assumption; the Redpaper prints none, and the log of NVIDIA AI Enterprise was edited."""
RULE = "-" * 64


def tf_cnn(words: Sequence[str], job: Launched) -> Printed:
    """Simulate the program: what all ranks print."""
    arguments = options(words)
    batch = number(arguments, "batch_size", training.BATCH)
    name = arguments.get("model", "resnet50")
    network = training.NETWORKS.get(name)
    note = [] if network else [f"{SIMULATED}: no document has a rate of {name}; this is ResNet-50's"]
    network = network or training.NETWORKS["resnet50"]
    header = [*_header(arguments, job, name, batch)] * max(len(job.processes), 1)
    joined = training.joined(job)
    if joined.exit_code:
        return Printed((*note, *header, *joined.lines), joined.exit_code, joined.message)
    precision = "fp16" if on(arguments, "use_fp16") else "fp32"
    rate = training.images_per_second(job, network, precision, batch, xla=on(arguments, "xla"))
    rate *= training.spread(job, "tf_cnn", name)
    return Printed((*note, *header, *joined.lines, *_ranks(arguments, job, rate)))


def _header(arguments: Mapping[str, str], job: Launched, name: str, batch: int) -> list[str]:
    ranks = max(len(job.processes), 1)
    version = TENSORFLOW.get(job.image.partition("@")[0].rpartition(":")[2])
    steps = number(arguments, "num_batches", STEPS)
    gpus = [f"horovod/gpu:{rank}" for rank in range(ranks)]
    return [
        *([f"TensorFlow:  {version}"] if version else []),
        f"Model:       {name}",
        "Dataset:     imagenet" if "data_dir" in arguments else "Dataset:     imagenet (synthetic)",
        "Mode:        training",
        "SingleSess:  False",
        f"Batch size:  {batch * ranks} global",
        f"             {batch} per device",
        f"Num batches: {steps}",
        f"Num epochs:  {steps * batch * ranks / IMAGENET:.2f}",
        f"Devices:     {gpus}",
        "NUMA bind:   False",
        "Data format: NCHW",
        "Optimizer:   sgd",
        f"Variables:   {arguments.get('variable_update', 'parameter_server')}",
        "Horovod on:  gpu",
        "==========",
        "Generating training model",
        "Initializing graph",
        "Running warm up",
    ]


def _ranks(arguments: Mapping[str, str], job: Launched, rate: float) -> list[str]:
    ranks = range(max(len(job.processes), 1))
    steps = number(arguments, "num_batches", STEPS)
    interval = number(arguments, "display_every", EVERY)
    shown = tuple(dict.fromkeys((1, *range(interval, steps + 1, interval)[-MOST:])))
    draws = [seeded(job.run, "tf_cnn", rank) for rank in ranks]
    lines = [line for _ in ranks for line in ("Done warm up", "Step\tImg/sec\ttotal_loss")]
    rows = {rank: [_step(step, rate, draws[rank]) for step in shown] for rank in ranks}
    for at, step in enumerate(shown):
        if step < steps:
            lines += [rows[rank][at] for rank in ranks]
    for rank in ranks:
        total = rate * len(ranks) * draws[rank].gauss(1, 0.0001)
        lines += [rows[rank][-1]] * (shown[-1] == steps) + [RULE, f"total images/sec: {total:.2f}", RULE]
    return lines


def _step(step: int, rate: float, draw: Random) -> str:
    """Return a line: the mean since the warm-up, which settles as steps are added."""
    deviation = JITTER * rate
    mean = rate + draw.gauss(0, deviation / step**0.5 / 4)
    uncertainty, jitter = (0.0, 0.0) if step == 1 else (deviation / step**0.5, deviation * draw.uniform(0.5, 1.2))
    loss = 7.4 + 0.8 / step**0.3 + draw.uniform(-0.02, 0.02)
    return f"{step}\timages/sec: {mean:.1f} +/- {uncertainty:.1f} (jitter = {jitter:.1f})\t{loss:.3f}"


def synthetic(words: Sequence[str], job: Launched) -> Printed:
    """Simulate pytorch_synthetic_benchmark.py at ResNet-50's rate with 32 bits: no document prints its own."""
    arguments = options(words)
    joined = training.joined(job)
    if joined.exit_code:
        return joined
    ranks = max(len(job.processes), 1)
    batch = number(arguments, "batch-size", 32)
    name = arguments.get("model", "resnet50")
    network = training.NETWORKS.get(name, training.NETWORKS["resnet50"])
    rate = training.images_per_second(job, network, "fp32", batch) * training.spread(job, "synthetic")
    draw = seeded(job.run, "synthetic", "iterations")
    rates = [rate * draw.gauss(1, JITTER) for _ in range(number(arguments, "num-iters", 10))[:MOST]]
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
