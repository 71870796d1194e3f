"""nccl-tests: all_reduce_perf and its sisters."""

from toolkit.evidence.tools.nccl_tests import primitives, public_speed, results, speed
from toolkit.evidence.tools.nccl_tests.model import NcclTests
from toolkit.evidence.tools.nccl_tests.parser import NcclTestsParser
from toolkit.evidence.tools.nccl_tests.primitives import PRIMITIVES

__all__ = ["CRITERIA", "PRIMITIVES", "NcclTests", "NcclTestsParser"]

CRITERIA = (*primitives.CRITERIA, *results.CRITERIA, *speed.CRITERIA, *public_speed.CRITERIA)
