"""The machines of the documents, for tests that are about one of them."""

from hardware.gpus import ARCHITECTURES
from hardware.profiles import profile

DGX1_V100_16GB = profile("dgx1-v100-16gb")
DGX1_V100_32GB = profile("dgx1-v100-32gb")
DGX2H = profile("dgx2h")
DGX_A100 = profile("dgx-a100")
SYS_4029GP_TVRT = profile("sys-4029gp-tvrt")

V100_SXM2_32GB = SYS_4029GP_TVRT.gpu
A100_SXM4_40GB = DGX_A100.gpu

VOLTA, AMPERE = ARCHITECTURES["volta"], ARCHITECTURES["ampere"]
