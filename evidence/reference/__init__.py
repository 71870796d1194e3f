"""What the documents measured (hardware/measured), by what a job asked for: to judge by, and to draw beside figures."""

from evidence.reference.collectives import ALL_REDUCE, AllReduceRun, all_reduce
from evidence.reference.field import FIELD, FieldThreshold
from evidence.reference.mlperf import published_minutes
from evidence.reference.training import ELAPSED, RATES, Elapsed, Rate, elapsed, rate
from hardware.measured import MLPERF, MLPERF_BAND, RDMA_WRITE, AllReduceRow, Half, RdmaWrite, Submission, submission

__all__ = [
    "ALL_REDUCE",
    "ELAPSED",
    "FIELD",
    "MLPERF",
    "MLPERF_BAND",
    "RATES",
    "RDMA_WRITE",
    "AllReduceRow",
    "AllReduceRun",
    "Elapsed",
    "FieldThreshold",
    "Half",
    "Rate",
    "RdmaWrite",
    "Submission",
    "all_reduce",
    "elapsed",
    "published_minutes",
    "rate",
    "submission",
]
