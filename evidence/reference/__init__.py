"""What the documents measured (hardware/measured), by what a job requested: to judge by, and to plot beside figures."""

from evidence.reference.collectives import ALL_REDUCE, AllReduceRun, all_reduce
from evidence.reference.mlperf import published_minutes
from evidence.reference.training import ELAPSED, RATES, Training, trainings
from hardware.measured import MLPERF, MLPERF_BAND, RDMA_WRITE, AllReduceRow, Half, RdmaWrite, Submission, submission

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
    "RdmaWrite",
    "Submission",
    "Training",
    "all_reduce",
    "published_minutes",
    "submission",
    "trainings",
]
