"""The program shared-data: ranks see each other's files where their pods have the same claim."""

from collections.abc import Sequence

from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.printed import Printed

MIB = 64


def shared_data(_words: Sequence[str], job: Launched) -> Printed:
    """Simulate it. Nothing is written: what counts is whose volume a pod has; a pod without one sees its own files."""
    ranks = list(enumerate(job.processes))
    count = len(ranks)
    wrote = (f"shared-data: rank {rank} of {count} on {pod.name} wrote {MIB} MiB" for rank, pod in ranks)
    reads = [
        (rank, pod, other, "same" if pod == peer or {*pod.claims} & {*peer.claims} else "not seen")
        for rank, pod in ranks
        for other, peer in ranks
        if other != rank
    ]
    lines = (
        f"shared-data: rank {rank} of {count} on {pod.name} read rank {other}: {result}"
        for rank, pod, other, result in reads
    )
    lost = any(result != "same" for *_, result in reads)
    return Printed((*wrote, *lines), int(lost), "shared-data: not seen" if lost else "")
