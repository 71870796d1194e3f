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
        (rank, pod, other, "same" if pod == theirs or {*pod.claims} & {*theirs.claims} else "not seen")
        for rank, pod in ranks
        for other, theirs in ranks
        if other != rank
    ]
    lines = (
        f"shared-data: rank {rank} of {count} on {pod.name} read rank {other}: {how}" for rank, pod, other, how in reads
    )
    lost = any(how != "same" for *_, how in reads)
    return Printed((*wrote, *lines), int(lost), "shared-data: not seen" if lost else "")
