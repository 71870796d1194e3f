"""nccl-tests: all_reduce_perf and its sisters."""

from evidence.tools.nccl_tests.model import Contradiction, Device, Figures, NcclTests, Row, Settings, Spread
from evidence.tools.nccl_tests.parser import NcclTestsParser
from evidence.tools.nccl_tests.primitives import PRIMITIVES, Primitive
from evidence.tools.nccl_tests.run import named

__all__ = [
    "PRIMITIVES",
    "Contradiction",
    "Device",
    "Figures",
    "NcclTests",
    "NcclTestsParser",
    "Primitive",
    "Row",
    "Settings",
    "Spread",
    "named",
]
