"""What the source documents measured, as data with source ids: to judge by, and to draw beside what was measured here.

Tables are CSV files beside this module, as the documents print them; a test holds them against the printed logs.
"""

from evidence.reference.collectives import (
    ALL_REDUCE,
    RDMA_WRITE,
    AllReduceRow,
    AllReduceRun,
    Half,
    RdmaWrite,
    all_reduce,
)
from evidence.reference.field import FIELD, FieldThreshold, field_thresholds
from evidence.reference.mlperf import MLPERF, MLPERF_BAND, Submission, published_minutes, submission
from evidence.reference.training import ELAPSED, RATES, Elapsed, Rate, elapsed, rate

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
    "field_thresholds",
    "published_minutes",
    "rate",
    "submission",
]
