"""`nvidia-smi -q` of two H100, at rest and with one of them busy; the XML form is in tests/cli/machine."""

import re
from pathlib import Path

import pytest

from evidence.reader import read
from evidence.tools.nvidia_smi_query.model import NvidiaSmiQuery, QueriedGpu

LOGS = Path(__file__).parents[1] / "logs" / "h100"


def query(name: str) -> NvidiaSmiQuery:
    """Return the only reading of a log."""
    (one,) = read(LOGS / name)
    assert isinstance(one, NvidiaSmiQuery)
    return one


@pytest.mark.parametrize("name", ["nvidia-smi-q.txt", "nvidia-smi-q-load.txt"])
def test_no_line_is_left_unread(name: str) -> None:
    """Sections, processes, and what is not read are the tool's lines."""
    one = query(name)
    assert (one.unread, one.complete, one.attached, len(one.rows)) == ((), True, 2, 2)


def test_figures_of_a_gpu_at_rest() -> None:
    """Memory is that of the GPU and not of its BAR1, clocks are those of now, and limits those in force."""
    assert query("nvidia-smi-q.txt").rows[0] == QueriedGpu(
        bus="00000000:00:06.0",
        name="NVIDIA H100 80GB HBM3",
        architecture="Hopper",
        memory_mib=81559,
        used_mib=0,
        ecc="Enabled",
        uncorrected=0,
        remap_pending=False,
        remap_failed=False,
        sm_mhz=345,
        most_mhz=1980,
        reasons=(),
        pcie=5,
        most_pcie=5,
        width=16,
        most_width=16,
        power_w=73.82,
        power_limit_w=700,
        default_limit_w=700,
        celsius=36,
        fabric="Completed",
        line=10,
    )


def test_a_busy_gpu_is_held_by_its_power_limit() -> None:
    """The reason of lower clocks is read; the counters of reasons, which are no state, are not."""
    rest, busy = query("nvidia-smi-q-load.txt").rows
    assert (rest.reasons, busy.reasons) == ((), ("SW Power Cap",))
    assert busy.sm_mhz is not None
    assert busy.sm_mhz < 1980
    assert busy.power_w is not None
    assert busy.power_w > 600
    assert query("nvidia-smi-q-load.txt").figures().startswith("2 GPUs, ")


def test_reasons_below_a_reason_are_its_own(tmp_path: Path) -> None:
    """A slow-down by hardware has its kind below it, and errors of both kinds of memory add up."""
    text = (LOGS / "nvidia-smi-q.txt").read_text()
    changes = {
        " HW Slowdown": "Active",
        "HW Thermal Slowdown": "Active",
        "SRAM Uncorrectable Parity": "1",
        "DRAM Uncorrectable": "2",
    }
    for key, value in changes.items():
        text, found = re.subn(rf"({key} +: ).*", rf"\g<1>{value}", text, count=1)
        assert found
    log = tmp_path / "q.txt"
    log.write_text(text)
    (one,) = read(log)
    assert isinstance(one, NvidiaSmiQuery)
    assert one.unread == ()
    assert one.rows[0].reasons == ("HW Slowdown", "HW Thermal Slowdown")
    assert (one.rows[0].uncorrected, one.rows[1].uncorrected) == (3, 0)
