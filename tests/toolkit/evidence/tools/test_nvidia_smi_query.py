"""`nvidia-smi -q` of two H100, one of them busy; the XML form is in tests/toolkit/cli/hardware."""

import re
from pathlib import Path

import pytest

from tests.support.mutated import only
from toolkit.evidence.tools.nvidia_smi_query import NvidiaSmiQuery, QueriedGpu

LOG = Path(__file__).parents[1] / "logs" / "h100" / "nvidia-smi-q.txt"


@pytest.fixture(scope="module")
def query() -> NvidiaSmiQuery:
    """Give the only reading of the log."""
    return only(NvidiaSmiQuery, LOG)


def test_no_line_is_left_unread(query: NvidiaSmiQuery) -> None:
    """Sections, processes, and what is not read are the tool's lines."""
    assert (query.unread, query.complete, query.attached, len(query.rows)) == ((), True, 2, 2)


def test_figures_of_a_gpu_at_rest(query: NvidiaSmiQuery) -> None:
    """Memory is that of the GPU and not of its BAR1, clocks are those of now, and limits those in force."""
    assert query.rows[0] == QueriedGpu(
        bus="00000000:00:06.0",
        name="NVIDIA H100 80GB HBM3",
        architecture="Hopper",
        memory_mib=81559,
        used_mib=527,
        ecc="Enabled",
        uncorrected=0,
        remap_pending=False,
        remap_failed=False,
        sm_mhz=1980,
        most_mhz=1980,
        reasons=(),
        pcie=5,
        most_pcie=5,
        width=16,
        most_width=16,
        power_w=117.81,
        power_limit_w=700,
        default_limit_w=700,
        celsius=38,
        fabric="Completed",
        line=10,
    )


def test_a_busy_gpu_is_held_by_its_power_limit(query: NvidiaSmiQuery) -> None:
    """The reason of lower clocks is read; the counters of reasons, which are not state, are not."""
    rest, busy = query.rows
    assert (rest.reasons, busy.reasons) == ((), ("SW Power Cap",))
    assert busy.sm_mhz is not None
    assert busy.sm_mhz < 1980
    assert busy.power_w is not None
    assert busy.power_w > 600
    assert query.figures().startswith("2 GPUs, ")


def test_reasons_below_a_reason_are_its_own() -> None:
    """A slow-down by hardware has its kind below it, and errors of both kinds of memory add up."""
    text = LOG.read_text()
    changes = {
        " HW Slowdown": "Active",
        "HW Thermal Slowdown": "Active",
        "SRAM Uncorrectable Parity": "1",
        "DRAM Uncorrectable": "2",
    }
    for key, value in changes.items():
        text, found = re.subn(rf"({key} +: ).*", rf"\g<1>{value}", text, count=1)
        assert found
    one = only(NvidiaSmiQuery, text)
    assert one.unread == ()
    assert one.rows[0].reasons == ("HW Slowdown", "HW Thermal Slowdown")
    assert (one.rows[0].uncorrected, one.rows[1].uncorrected) == (3, 0)
