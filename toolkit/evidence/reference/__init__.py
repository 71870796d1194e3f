"""What the documents measured (hardware/measured), by what a job requested: to judge by, and to plot beside figures.

Of machines that no document has, what public records say.
"""

from core.hardware.measured import (
    MLPERF,
    MLPERF_BAND,
    RDMA_WRITE,
    AllReduceRow,
    Half,
    RdmaWrite,
    Submission,
    submission,
)
from toolkit.evidence.reference.collectives import ALL_REDUCE, AllReduceRun, all_reduce
from toolkit.evidence.reference.mlperf import published_minutes
from toolkit.evidence.reference.public_limits import PublicLimit, public_limit, public_limits
from toolkit.evidence.reference.training import ELAPSED, RATES, Training, trainings

__all__ = [
    "ALL_REDUCE",
    "ELAPSED",
    "MLPERF",
    "MLPERF_BAND",
    "RATES",
    "RDMA_WRITE",
    "AllReduceRow",
    "AllReduceRun",
    "Half",
    "PublicLimit",
    "RdmaWrite",
    "Submission",
    "Training",
    "all_reduce",
    "public_limit",
    "public_limits",
    "published_minutes",
    "submission",
    "trainings",
]
