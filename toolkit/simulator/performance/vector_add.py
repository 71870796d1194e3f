"""NVIDIA's vectorAdd sample."""

from collections.abc import Sequence

from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.printed import Printed

ELEMENTS, THREADS = 50_000, 256
WHY = {
    True: "no CUDA-capable device is detected",
    False: "CUDA driver version is insufficient for CUDA runtime version",
}
"""What the CUDA runtime says, by whether there is a driver."""
NO_GPU = "Failed to allocate device vector A (error code {why})!"


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
