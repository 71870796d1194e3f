"""nvidia-smi of 2020 and since; the newer tables as issues of public projects show them."""

from pathlib import Path

from tests.support.mutated import read_text
from tests.toolkit.evidence.tools.logs import NVIDIA_SMI as NEW
from toolkit.evidence.reader import read
from toolkit.evidence.tools.nvidia_smi import NvidiaSmi

LOGS = Path(__file__).parent.parent / "logs" / "nvidia-smi"


def _smi(text: str) -> NvidiaSmi:
    (found,) = (one for one in read_text(text) if isinstance(one, NvidiaSmi))
    return found


def test_the_papers_eight_gpus() -> None:
    """The Redpaper's eight GPUs are read."""
    prompt, found = read(LOGS / "r-4.4-2.log")
    assert isinstance(found, NvidiaSmi)
    assert ([one.line for one in prompt.unread], found.first_line) == ([1], 2)
    assert (found.tool_version, found.driver, found.cuda, found.processes) == ("440.33.01", "440.33.01", "10.2", 0)
    assert (found.complete, found.unread_total) == (True, 0)
    rows = found.rows
    assert [row.index for row in rows] == list(range(8))
    assert {(r.name, r.memory_mib, r.memory_used_mib, r.power_limit_w, r.uncorrected_ecc, r.mig) for r in rows} == {
        ("Tesla V100-SXM2...", 16160, 0, 300.0, 0, None)
    }
    assert [row.bus for row in rows] == [
        f"00000000:{bus}:00.0" for bus in ("06", "07", "0A", "0B", "85", "86", "89", "8A")
    ]
    assert [row.temperature_c for row in rows] == [32, 34, 34, 34, 33, 36, 36, 34]
    assert [row.power_w for row in rows] == [58.0, 44.0, 42.0, 43.0, 42.0, 41.0, 42.0, 42.0]
    assert [row.utilisation_percent for row in rows] == [0, 0, 0, 0, 0, 1, 0, 0]


def test_todays_table_with_parts_of_gpus() -> None:
    """Three lines a GPU, MIG devices and absent figures are read."""
    found = _smi(NEW)
    assert (found.driver, found.cuda, found.processes, found.complete) == ("580.119.02", "13.0", 2, True)
    assert found.unread == ()
    one, two = found.rows
    assert (one.name, one.memory_mib, one.mig, one.utilisation_percent) == ("NVIDIA A800 80GB PCIe", 81920, True, None)
    assert (two.mig, two.power_w, two.temperature_c, two.memory_used_mib) == (False, None, None, 413)
    assert (one.uncorrected_ecc, two.uncorrected_ecc) == (None, 2)
    assert [(p.gpu, p.gpu_instance, p.compute_instance, p.device, p.memory_mib) for p in found.mig_devices] == [
        (0, 1, 0, 0, 40192)
    ]


def test_a_cut_table_is_incomplete() -> None:
    """A cut table is incomplete."""
    for until, gpus in (("|   1  NVIDIA", 1), ("| ERR!", 1), ("| Processes:", 2), ("|    1   N/A", 2)):
        found = _smi(NEW.partition(until)[0])
        assert (found.complete, len(found.rows)) == (False, gpus)
    assert _smi(NEW.partition("| ERR!")[0]).incomplete == "no end of the table of processes; GPU 1: no memory"


def test_what_stands_in_place_of_rows() -> None:
    """Messages in place of rows, such as processes that a pod may not see, are not damage."""
    rows = NEW.splitlines(keepends=True)
    part = next(number for number, row in enumerate(rows) if row.startswith("|  0    1"))
    rows[part : part + 2] = [f"|  {'No MIG devices found':<87}|\n"]
    process = next(number for number, row in enumerate(rows) if "4711" in row)
    rows[process : process + 2] = [f"|  {'Insufficient Permissions':<87}|\n"]
    found = _smi("".join(rows))
    assert (found.complete, found.unread, found.mig_devices, len(found.rows)) == (True, (), (), 2)


def test_a_damaged_gpu_is_unread() -> None:
    """A GPU whose second line is another's is unread."""
    found = _smi(NEW.replace("46W /  300W", "46W /  3X0W"))
    assert [row.index for row in found.rows] == [1]
    assert (found.complete, found.unread_total > 0) == (False, True)


def test_what_it_says_without_a_gpu() -> None:
    """The error of a node without driver is read."""
    for text in (
        "No devices were found",
        "Failed to initialize NVML: Driver/library version mismatch",
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
        "bash: line 1: nvidia-smi: command not found",
        "nvidia-smi: command not found",
    ):
        found = _smi(text + "\n")
        assert (found.failed, found.incomplete, found.rows) == (text, text, ())


def test_the_csv_form() -> None:
    """Columns of the CSV form are read by name, and N/A is not a figure."""
    found = _smi(
        "index, name, uuid, driver_version, memory.total [MiB], power.draw [W], pcie.link.gen.current\n"
        "0, NVIDIA H100 80GB HBM3, GPU-5b1c9b7e, 535.104.05, 81559 MiB, 69.53 W, 5\n"
        "1, NVIDIA H100 80GB HBM3, GPU-5b1c9b7f, 535.104.05, [N/A], [N/A], 5\n"
        "2, NVIDIA H100 80GB HBM3, GPU-5b1c9\n"
    )
    assert (found.driver, len(found.rows), found.unread_total, found.complete) == ("535.104.05", 2, 1, False)
    assert (found.rows[0].memory_mib, found.rows[0].power_w, found.rows[1].memory_mib) == (81559, 69.53, None)


def test_the_csv_form_without_its_heading() -> None:
    """The CSV form without its heading is read by its command."""
    found = _smi("# nvidia-smi --query-gpu=gpu_name --format=csv,noheader --id=0\nTesla-V100-SXM2-16GB\n")
    assert [row.name for row in found.rows] == ["Tesla-V100-SXM2-16GB"]


def test_tables_that_follow_each_other() -> None:
    """The date of a second table belongs to that table."""
    found = read_text(2 * f"Mon Jul  6 12:00:05 2020\n{NEW}")
    assert [(one.tool, one.first_line, len(one.unread)) for one in found] == [
        ("nvidia-smi", 1, 0),
        ("nvidia-smi", 1 + 1 + NEW.count("\n"), 0),
    ]
