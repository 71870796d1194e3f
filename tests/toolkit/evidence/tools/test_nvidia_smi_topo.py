"""The matrix of nvidia-smi topo, of 2020, of a DGX A100, and of today."""

from pathlib import Path

from tests.support.mutated import only
from tests.toolkit.evidence.tools.logs import TOPOLOGY as TODAY
from toolkit.evidence.tools.nvidia_smi_topo import NvidiaSmiTopo

LOGS = Path(__file__).parent.parent / "logs" / "nvidia-smi-topo"
PAPER = (LOGS / "r-4.4-3.log").read_text()


def test_the_papers_matrix() -> None:
    """The Redpaper's matrix is read."""
    found = only(NvidiaSmiTopo, PAPER)
    assert found.complete
    assert found.asymmetric == ()
    assert found.devices == (*(f"GPU{n}" for n in range(8)), *(f"mlx5_{n}" for n in range(4)))
    assert [row.name for row in found.rows] == list(found.devices)
    row = found.row("GPU5")
    assert row is not None
    assert " ".join(row.links.values()) == "SYS NV2 SYS SYS NV1 X NV2 NV1 SYS SYS PIX PHB"
    assert {row.name: row.cpu_affinity for row in found.rows if row.links["mlx5_0"] != "SYS"} == dict.fromkeys(
        ("GPU0", "GPU1", "GPU2", "GPU3", "mlx5_0", "mlx5_1"), "0-19,40-59"
    )


def test_rows_with_a_cell_too_many_are_unread() -> None:
    """Rows with 13 cells for 12 columns are unread."""
    printed = PAPER
    for name in ("GPU5", "mlx5_2", "mlx5_3"):
        printed = printed.replace(f"\n{name}  ", f"\n{name}  SYS  ")
    found = only(NvidiaSmiTopo, printed)
    assert found.incomplete == "no row GPU5, mlx5_2, mlx5_3; 3 damaged lines"
    assert len(found.rows) == 9
    assert [one.line for one in found.unread] == [7, 12, 13]
    assert found.asymmetric == ()


def test_a_cell_that_contradicts_its_mirror_is_named() -> None:
    """A cell that contradicts its mirror is named."""
    found = only(NvidiaSmiTopo, PAPER.replace("GPU3    NV2 ", "GPU3    SYS "))
    assert found.asymmetric == ("GPU0-GPU3",)


def test_the_a100_matrix_that_the_slides_shorten() -> None:
    """The SuperPOD architecture's shortened matrix is incomplete, without a column of dots."""
    found = only(NvidiaSmiTopo, LOGS / "d-2.6.log")
    assert (found.shortened, found.complete, found.asymmetric) == (True, False, ())
    assert {row.numa_affinity: row.cpu_affinity for row in found.rows} == {
        "3": "48-63,176-191",
        "1": "16-31,144-159",
        "7": "112-127,240-255",
        "5": "80-95,208-223",
    }
    assert [row.numa_affinity for row in found.rows] == list("33117755")
    assert {link for row in found.rows for link in row.links.values()} == {"X", "NV12"}


def test_todays_matrix_names_its_nics_below() -> None:
    """NIC0 gets the name of the legend below."""
    found = only(NvidiaSmiTopo, TODAY)
    assert found.complete
    assert found.nics == {"NIC0": "mlx5_0", "NIC1": "mlx5_bond_0"}
    nic, gpu = found.row("mlx5_bond_0"), found.row("GPU1")
    assert nic is not None
    assert gpu is not None
    assert (nic.links["GPU1"], nic.cpu_affinity, gpu.numa_affinity) == ("PXB", None, "1")
    cut = only(NvidiaSmiTopo, TODAY.partition("NIC Legend")[0])
    assert cut.incomplete == "no legend of NIC0, NIC1"
    assert not only(NvidiaSmiTopo, TODAY.partition("NIC1\tSYS")[0]).complete


def test_a_matrix_of_pcie_alone_has_no_links() -> None:
    """`topo -mp` shows paths over PCIe in place of NVLinks: by its command, or its legend, which has no NV#."""
    legend = "".join(f"  {path}  = Connection\n" for path in ("SYS", "NODE", "PHB", "PXB", "PIX"))
    matrix = (
        f"\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNODE\t0-7\nGPU1\tNODE\t X \t0-7\n\nLegend:\n\n  X    = Self\n{legend}"
    )
    assert only(NvidiaSmiTopo, matrix).pcie_alone
    assert not only(NvidiaSmiTopo, f"{matrix}  NV#  = Connection\n").pcie_alone
    assert only(NvidiaSmiTopo, f"$ nvidia-smi topo -mp\n{matrix}  NV#  = Connection\n").pcie_alone
    assert not only(NvidiaSmiTopo, matrix.replace("NODE\t", "NV4\t")).pcie_alone
    assert not only(NvidiaSmiTopo, TODAY).pcie_alone
