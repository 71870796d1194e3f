"""nvidia-smi: the GPUs that a pod or host sees; its table, and `--query-gpu=... --format=csv`."""

from toolkit.evidence.tools.nvidia_smi.criteria import CRITERIA
from toolkit.evidence.tools.nvidia_smi.model import Gpu, MigDevice, NvidiaSmi
from toolkit.evidence.tools.nvidia_smi.parser import NvidiaSmiParser

__all__ = ["CRITERIA", "Gpu", "MigDevice", "NvidiaSmi", "NvidiaSmiParser"]
