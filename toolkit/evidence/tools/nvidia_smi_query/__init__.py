"""`nvidia-smi -q`: each GPU of a node, with its errors, clocks, links and power."""

from toolkit.evidence.tools.nvidia_smi_query.criteria import CRITERIA
from toolkit.evidence.tools.nvidia_smi_query.parser import NvidiaSmiQueryParser

__all__ = ["CRITERIA", "NvidiaSmiQueryParser"]
