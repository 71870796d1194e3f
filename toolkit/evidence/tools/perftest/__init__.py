"""perftest: bandwidth and latency of RDMA between two hosts."""

from toolkit.evidence.tools.perftest.criteria import CRITERIA
from toolkit.evidence.tools.perftest.model import Bandwidth, Contradiction, CpuFrequency, End, Latency, Perftest
from toolkit.evidence.tools.perftest.parser import PerftestParser

__all__ = ["CRITERIA", "Bandwidth", "Contradiction", "CpuFrequency", "End", "Latency", "Perftest", "PerftestParser"]
