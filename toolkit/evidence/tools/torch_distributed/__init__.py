"""What PyTorch reports of a job's processes: time-outs of NCCL's work, rendezvous, and torchrun's table of failures."""

from toolkit.evidence.tools.torch_distributed.criteria import CRITERIA
from toolkit.evidence.tools.torch_distributed.parser import TorchDistributedParser

__all__ = ["CRITERIA", "TorchDistributedParser"]
