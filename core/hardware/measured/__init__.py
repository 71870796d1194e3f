"""What the source documents measured, once: judged by in evidence, and what the simulated cluster is fitted to.

Tables are CSV files beside this module, as the documents print them; a test holds them against the printed logs.
"""

from core.hardware.measured.all_reduce import ALL_REDUCE, AllReduceRow, AllReduceTable, Half
from core.hardware.measured.collectives import NVLINK_COLLECTIVES, MeasuredCollectives
from core.hardware.measured.gpus import MEASURED_GPUS, MeasuredGpu
from core.hardware.measured.machines import REDPAPER_MACHINE, SUPERMICRO_MACHINE
from core.hardware.measured.mlperf import MLPERF, MLPERF_BAND, Band, Submission, submission
from core.hardware.measured.training import TCP_RATES, TRAINED, Trained, trained
from core.hardware.measured.write import RDMA_WRITE, RdmaWrite

__all__ = [
    "ALL_REDUCE",
    "MEASURED_GPUS",
    "MLPERF",
    "MLPERF_BAND",
    "NVLINK_COLLECTIVES",
    "RDMA_WRITE",
    "REDPAPER_MACHINE",
    "SUPERMICRO_MACHINE",
    "TCP_RATES",
    "TRAINED",
    "AllReduceRow",
    "AllReduceTable",
    "Band",
    "Half",
    "MeasuredCollectives",
    "MeasuredGpu",
    "RdmaWrite",
    "Submission",
    "Trained",
    "submission",
    "trained",
]
