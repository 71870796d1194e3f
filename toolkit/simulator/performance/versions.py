"""NCCL in an image, as far as its log depends on it."""

import re
from dataclasses import dataclass

from toolkit.simulator.performance.job import Launched


@dataclass(frozen=True)
class Nccl:
    """One version. What it prints is learnt from its public source and from logs in issues of NVIDIA/nccl."""

    version: str
    cuda: str
    of_2020: bool
    """`Ring 00 : ...`, HCAs listed backwards as by the verbs library of then, and `error` in nccl-tests."""
    bus_ids: bool = True
    """Of 2020: whether channels name the bus of a GPU, as from 2.5 on; before that they give its number."""


_RELEASES = (
    # Of 19.10 and 20.03 NVIDIA's release notes of TensorFlow; of 2023 what an image prints in NVIDIA/nccl issue 941; of
    # 24.03 and 25.02 general knowledge.
    ((19, 10), Nccl("2.4.8", "10.1", of_2020=True, bus_ids=False)),
    ((20, 3), Nccl("2.6.3", "10.2", of_2020=True)),
    ((23, 3), Nccl("2.17.1", "12.1", of_2020=False)),
    ((24, 3), Nccl("2.20.5", "12.4", of_2020=False)),
    ((25, 2), Nccl("2.25.1", "12.8", of_2020=False)),
)
"""First monthly release of NGC -> what is in it; images between two have the older one's here."""
_MONTH = re.compile(r":.*?(?<![\d.])(\d\d)\.(0[1-9]|1[0-2])(?![\d.])")


def nccl(job: Launched) -> Nccl:
    """Return the NCCL of a job's image, by the month in its tag; for others, which are built today, the newest."""
    match = _MONTH.search(job.image)
    if match is None:
        return _RELEASES[-1][1]
    month = (int(match[1]), int(match[2]))
    fitting = [version for first, version in _RELEASES if first <= month]
    return fitting[-1] if fitting else _RELEASES[0][1]
