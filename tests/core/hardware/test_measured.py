"""The measured collectives are those of the log."""

from collections import defaultdict
from pathlib import Path
from statistics import median

from core.hardware.measured import NVLINK_COLLECTIVES
from toolkit.evidence.reader import read
from toolkit.evidence.tools.nccl_tests.model import NcclTests

LOG = Path(__file__).parents[2] / "toolkit" / "evidence" / "logs" / "h100" / "collectives.txt"


def test_the_table_is_the_median_of_three_runs() -> None:
    """Every time is the median of the three runs that the log holds."""
    times: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in read(LOG):
        if isinstance(one, NcclTests):
            for row in one.rows:
                times[str(one.test)][row.bytes].append((row.in_place or row.out_of_place).time_us)
    assert {len(runs) for sizes in times.values() for runs in sizes.values()} == {3}
    assert NVLINK_COLLECTIVES.times_us == {
        name: {size: median(runs) for size, runs in sizes.items()} for name, sizes in times.items()
    }
