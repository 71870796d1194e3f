"""lsmod, semodule -l and rpm -qa."""

from pathlib import Path

from tests.support.mutated import only
from toolkit.evidence.reader import read
from toolkit.evidence.tools.lsmod import LsMod
from toolkit.evidence.tools.packages import Rpm, SeModule

LOGS = Path(__file__).parent.parent / "logs"


def test_the_papers_peer_memory_module() -> None:
    """The module for GPUDirect is read."""
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
    """A list of modules ends where another table starts."""
    text = (
        "Module                  Size  Used by\nnvidia_peermem         16384  0\n"
        "nvidia              56823808  212 nvidia_uvm,nvidia_peermem,nvidia_modeset\n"
        "xfs                  1810432  -2\nsome other line\nepoch 12 3\n"
    )
    found = only(LsMod, text)
    assert ([row.name for row in found.rows], found.filtered) == (["nvidia_peermem", "nvidia", "xfs"], False)
    assert [one.line for one in found.unread] == [5, 6]


def test_a_cut_module_is_unread() -> None:
    """A cut module is unread."""
    found = only(LsMod, "ib_core 368807 11 rdma_cm,ib_cm\nnvidia 198\n")
    assert ([row.name for row in found.rows], found.complete, found.unread_total) == (["ib_core"], False, 1)


def test_the_papers_selinux_module() -> None:
    """The policy module of SELinux is read."""
    found = only(SeModule, LOGS / "semodule" / "r-3.2.4-1.log")
    assert [(row.name, row.version, row.line) for row in found.rows] == [("infiniband", "1.0", 3)]
    assert found.complete


def test_lists_of_newer_tools() -> None:
    """RHEL 8's list without versions is read, and figures are not modules."""
    found = only(SeModule, "# semodule -l\nabrt\ninfiniband\nnvidia-container\n")
    assert [(row.name, row.version) for row in found.rows][1:] == [("infiniband", None), ("nvidia-container", None)]
    full = only(SeModule, "400 infiniband        pp\n100 zebra             pp\n")
    assert [row.name for row in full.rows] == ["infiniband", "zebra"]


def test_packages_of_drivers_are_stored() -> None:
    """Of a list of packages those of drivers, kernels and containers are stored; names may have dashes and figures."""
    packages = (
        "glibc-2.17-292.el7.x86_64",
        "nvidia-driver-418.87.01-1.el7.x86_64",
        "cuda-toolkit-10-1-10.1.243-1.x86_64",
    )
    found = only(Rpm, "\n".join(("# rpm -qa", *packages, "bash-4.2.46-31.el7.x86_64", "")))
    assert [(row.name, row.version) for row in found.rows] == [
        ("nvidia-driver", "418.87.01-1.el7"),
        ("cuda-toolkit-10-1", "10.1.243-1"),
    ]
    assert (found.whole, found.unread) == (True, ())
    assert only(Rpm, "# rpm -qa 'nvidia-driver*'\n").whole is False
