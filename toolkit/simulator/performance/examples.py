"""NVIDIA's examples: training of ResNet-50 v1.5, of A2D2 with the options of UNet, and the sample vectorAdd."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from core.apis.names import SIMULATED
from core.hardware.measured.training import trained
from toolkit.simulator.performance import training
from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.printed import Printed, number, on, options, seeded

HOOK = "(/workspace/rn50v15_tf/utils/hooks/benchmark_hooks.py:{line})"
WARM_UP, EVERY, SHOWN = 20, 10, 100
"""Of the logger of 2019: iterations that it passes over, between two that it prints, and that are printed here."""
IMAGENET = 1_281_167
A2D2_EVERY, A2D2_STEPS = 100, 16_000
_ONE_NODE, _TWO_NODES = trained("a2d2")
A2D2_STEP = (_ONE_NODE.figure - _TWO_NODES.figure) / (A2D2_STEPS / _ONE_NODE.pods - A2D2_STEPS / _TWO_NODES.pods)
A2D2_START = 2 * _TWO_NODES.figure - _ONE_NODE.figure
"""Seconds of a step, and those that do not become less: twice the GPUs take half the steps each."""
A2D2_PARAMETERS = 31e6
"""Of the UNet of NVIDIA's example; the paper does not say which network it trains."""
MOST = 1000
"""Lines of losses; of a longer run the last ones."""
ELEMENTS, THREADS = 50_000, 256
WHY = {
    True: "no CUDA-capable device is detected",
    False: "CUDA driver version is insufficient for CUDA runtime version",
}
"""What the CUDA runtime says, by whether there is a driver."""
NO_GPU = "Failed to allocate device vector A (error code {why})!"


def main(words: Sequence[str], job: Launched) -> Printed:
    """Simulate one of the two programs called main.py: they have different options."""
    arguments = options(words)
    joined = training.joined(job)
    if joined.exit_code:
        return joined
    if "exec_mode" in arguments:
        return Printed((*joined.lines, *_unet(arguments, job)))
    if arguments.get("mode") == "training_benchmark":
        return Printed((*joined.lines, *_resnet(arguments, job)))
    return Printed((f"{SIMULATED}: of programs called main.py only two examples of NVIDIA are simulated",))


def _resnet(arguments: Mapping[str, str], job: Launched) -> list[str]:
    ranks = max(len(job.processes), 1)
    batch = number(arguments, "batch_size", 128)
    precision = "fp16" if on(arguments, "use_tf_amp") else "fp32"
    network = training.NETWORKS["resnet50v1.5"]
    total = training.images_per_second(job, network, precision, batch, xla=on(arguments, "use_xla")) * ranks
    total *= training.spread(job, "resnet50v1.5")
    iterations = number(arguments, "num_iter", 1)
    if arguments.get("iter_unit", "epoch") == "epoch":
        iterations = -(-iterations * IMAGENET // (batch * ranks))
    draw = seeded(job.run, "iterations")
    last = iterations - 1 - (iterations - 1 - WARM_UP) % EVERY
    shown = [*range(WARM_UP, min(iterations, WARM_UP + SHOWN), EVERY)]
    lines: list[str] = []
    for iteration in shown:
        lines += _iteration(job, iteration, total * draw.gauss(1, 0.01), batch * ranks / total)
    if shown and last > shown[-1]:
        left = (last - shown[-1]) // EVERY - 1
        lines.append(f"{SIMULATED}: {left} such lines are left out")
        lines += _iteration(job, last, total * draw.gauss(1, 0.01), batch * ranks / total)
    seconds = iterations * batch * ranks / total
    return [*lines, _nvlog(job, seconds, 75, "Average total_ips", total)]


def _iteration(job: Launched, iteration: int, rate: float, seconds: float) -> list[str]:
    after = (iteration + 1) * seconds
    return [_nvlog(job, after, 69, "iteration", iteration), _nvlog(job, after, 70, "total_ips", rate)]


def _nvlog(job: Launched, after: float, line: int, name: str, value: float) -> str:
    when = job.started.timestamp() + after
    return f":::NVLOGv0.2.3 resnet {when:.9f} {HOOK.format(line=line)} {name}: {value}"


def _unet(arguments: Mapping[str, str], job: Launched) -> list[str]:
    """Return DLLogger's lines of training: losses, and at the end the rate; the stamps show how long it took."""
    ranks = max(len(job.processes), 1)
    steps = max(number(arguments, "max_steps", A2D2_STEPS) // ranks, 1)
    batch = number(arguments, "batch_size", 16)
    compute = A2D2_STEP / training.slowest(job)
    seconds = training.step_seconds(job, compute, A2D2_PARAMETERS)
    factor = training.spread(job, "a2d2")
    draw = seeded(job.run, "losses")
    words = " ".join(
        f"{name} : {arguments[name]}" for name in ("exec_mode", "batch_size", "max_steps") if name in arguments
    )
    lines = [_dll(job.started, 0.0, f"PARAMETER {words}")]
    for step in range(0, steps + 1, A2D2_EVERY)[-MOST:]:
        entropy = 0.25 + 1.4 / (1 + step / 120) + draw.uniform(-0.02, 0.02)
        dice = 0.3 + 0.6 / (1 + step / 200) + draw.uniform(-0.02, 0.02)
        figures = f"train_ce_loss : {entropy:.6f} train_dice_loss : {dice:.6f} train_total_loss : {entropy + dice:.6f}"
        lines.append(_dll(job.started, (A2D2_START + step * seconds) * factor, f"({step}, {steps}) {figures}"))
    rate = ranks * batch / (seconds * factor)
    words = f"() throughput_train : {rate:.3f} latency_train_mean : {seconds * factor * 1000:.3f}"
    return [*lines, _dll(job.started, (A2D2_START + steps * seconds) * factor, words)]


def _dll(started: datetime, after: float, text: str) -> str:
    return f"DLL {started + timedelta(seconds=after):%Y-%m-%d %H:%M:%S.%f} - {text}"


def vector_add(_words: Sequence[str], job: Launched) -> Printed:
    """Simulate the sample on the pod's first GPU."""
    start = f"[Vector addition of {ELEMENTS} elements]"
    if not (job.me.gpus and job.me.machine.has_driver):
        failed = NO_GPU.format(why=WHY[job.me.machine.has_driver])
        return Printed((start, failed), 1, failed)
    blocks = -(-ELEMENTS // THREADS)
    return Printed(
        (
            start,
            "Copy input data from the host memory to the CUDA device",
            f"CUDA kernel launch with {blocks} blocks of {THREADS} threads",
            "Copy output data from the CUDA device to the host memory",
            "Test PASSED",
            "Done",
        )
    )
