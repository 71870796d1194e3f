"""lsmod and semodule -l."""

from pathlib import Path

from evidence.reader import read
from evidence.tools.lsmod import LsMod
from evidence.tools.semodule import SeModule
from tests.support.mutated import read_text

LOGS = Path(__file__).parent.parent / "logs"


def test_the_papers_peer_memory_module() -> None:
    """Prevents GPUDirect without its module from passing (R-3.2.3-3)."""
    (found,) = (one for one in read(LOGS / "lsmod" / "r-3.2.3-3.log") if isinstance(one, LsMod))
    assert [(row.name, row.size_bytes, row.users, len(row.used_by)) for row in found.rows] == [
        ("nv_peer_mem", 13163, 0, 0),
        ("nvidia", 19893032, 3261, 3),
        ("ib_core", 368807, 11, 11),
    ]
    core = found.module("ib_core")
    assert core is not None
    assert "nv_peer_mem" in core.used_by
    assert (found.filtered, found.complete, found.module("nvidia_peermem")) == (True, True, None)


def test_a_whole_list_ends_where_others_begin() -> None:
    """Prevents a table of figures that follows from being modules."""
    text = (
        "Module                  Size  Used by\nnvidia_peermem         16384  0\n"
        "nvidia              56823808  212 nvidia_uvm,nvidia_peermem,nvidia_modeset\n"
        "xfs                  1810432  -2\nsome other line\nepoch 12 3\n"
    )
    (found,) = read_text(text)
    assert isinstance(found, LsMod)
    assert ([row.name for row in found.rows], found.filtered) == (["nvidia_peermem", "nvidia", "xfs"], False)
    assert [one.line for one in found.unread] == [5, 6]


def test_a_cut_module_is_unread() -> None:
    """Prevents a module with half its size."""
    (found,) = read_text("ib_core 368807 11 rdma_cm,ib_cm\nnvidia 198\n")
    assert isinstance(found, LsMod)
    assert ([row.name for row in found.rows], found.complete, found.unread_total) == (["ib_core"], False, 1)


def test_the_papers_selinux_module() -> None:
    """Prevents the missing policy module from passing (R-3.2.4-1)."""
    (found,) = read(LOGS / "semodule" / "r-3.2.4-1.log")
    assert isinstance(found, SeModule)
    assert [(row.name, row.version, row.line) for row in found.rows] == [("infiniband", "1.0", 3)]
    assert found.complete


def test_lists_of_newer_tools() -> None:
    """Prevents RHEL 8's list without versions from being unread, and figures from being modules."""
    (found,) = read_text("# semodule -l\nabrt\ninfiniband\nnvidia-container\n")
    assert isinstance(found, SeModule)
    assert [(row.name, row.version) for row in found.rows][1:] == [("infiniband", None), ("nvidia-container", None)]
    (full,) = read_text("400 infiniband        pp\n100 zebra             pp\n")
    assert isinstance(full, SeModule)
    assert [row.name for row in full.rows] == ["infiniband", "zebra"]
