"""The stack's own synthetic training: what it prints step by step, its checkpoints, and where it goes on."""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from core.files import digest
from toolkit.simulator.performance import training
from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.printed import Printed, Steps, number, options, seeded

WARM_UP, REPORT = 10, 10
"""Of stacks/scripts/synthetic_training.py: steps before the first that counts, and between two lines."""
MODEL, PRECISION, BATCH = "resnet50", "fp16", 256
"""Only this network's rate can be calculated; bf16 is as fast as fp16."""
VERSION = "2.8.0"
"""Of PyTorch, which the image does not say."""


def synthetic_training(words: Sequence[str], job: Launched) -> Printed:
    """Simulate ResNet-50 step by step; of another model there is only what NCCL prints."""
    arguments = options(words[1:])
    joined = training.joined(job)
    if joined.exit_code or arguments.get("model", MODEL) != MODEL:
        return joined
    ranks, batch = max(len(job.processes), 1), number(arguments, "batch", BATCH)
    rate = ranks * training.images_per_second(job, training.NETWORKS[MODEL], PRECISION, batch)
    rate *= training.spread(job, "synthetic_training")
    total = number(arguments, "steps", 60)
    saves = (job.processes or (job.me,))[0]  # rank 0, which is not in an MPIJob's launcher
    newest = stored(arguments["checkpoint"], saves.claim_folders) if arguments.get("checkpoint") else None
    step = last_saved(newest)
    done = min(max(step - WARM_UP, 0), total)
    resumed = (f"resumed at step {step}",) if step else ()
    reports = max(total // REPORT, 1)
    return Printed(
        (*joined.lines, f"{MODEL}: {ranks} GPUs, batch {batch} of each, bf16, PyTorch {VERSION}", *resumed),
        steps=Steps(
            range(WARM_UP + done + REPORT, WARM_UP + total + 1, REPORT),
            job.seconds / reports,
            lambda reported: _line(reported, rate, job.run),
            number(arguments, "every", 100) if arguments.get("checkpoint") else 0,
            newest,
        ),
    )


def _line(step: int, rate: float, run: str) -> str:
    draw = seeded(run, "step", step)
    return f"step {step}: {rate * draw.gauss(1, 0.002):.1f} images/s, loss {6.9 + draw.uniform(0, 0.2) / step**0.3:.3f}"


def stored(path: str, claims: Mapping[str, Path]) -> Path | None:
    """Return the file that stands for the newest checkpoint in a container's folder; None where no claim is mounted.

    What a pod names never becomes a path of this machine.
    """
    for place, folder in sorted(claims.items(), key=lambda mount: len(mount[0]), reverse=True):
        if PurePosixPath(path).is_relative_to(place):
            name = digest(str(PurePosixPath(path).relative_to(place)).encode())[:16]
            return folder / f".simulated-checkpoint-{name}"
    return None


def last_saved(newest: Path | None) -> int:
    """Return the step of the newest checkpoint, 0 where there is none."""
    try:
        text = newest.read_text() if newest else ""
    except FileNotFoundError:
        return 0
    return int(text) if text.isdecimal() else 0
