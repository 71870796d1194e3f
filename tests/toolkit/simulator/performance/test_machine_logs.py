"""What a node check prints, and the smallest programs of a GPU."""

import pytest

from core.hardware.profiles import PROFILES, Profile
from tests.support.machines import DGX1_V100_16GB, DGX2H, DGX_A100
from tests.toolkit.simulator.performance import jobs
from toolkit.evidence.tools.cuda_vector_add import CudaVectorAdd
from toolkit.evidence.tools.device_plugin import DevicePlugin
from toolkit.evidence.tools.nvidia_smi import NvidiaSmi
from toolkit.evidence.tools.nvidia_smi_topo import NvidiaSmiTopo
from toolkit.simulator.actors.podlogs import device_plugin_log
from toolkit.simulator.performance import nvidia_smi
from toolkit.simulator.performance.examples import vector_add
from toolkit.simulator.performance.job import Launched

DRIVERS = ("418.67", "440.64", "450.80.02", "535.104.05", "580.95.05", "595.91.07")


def _check(profile: Profile, driver: str | None, gpus: int = 8, *, has_driver: bool = True) -> Launched:
    there = jobs.machines(profile, driver=driver, has_driver=has_driver)
    return jobs.rdma_test(there, gpus=tuple(range(gpus)))


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_the_table_reads_in_the_form_of_every_drivers_time(profile: Profile, driver: str) -> None:
    """The table has the width of the driver's."""
    lines = nvidia_smi.nvidia_smi(("nvidia-smi",), _check(profile, driver)).lines
    assert len({len(line) for line in lines if line[:1] in ("|", "+")}) == 1
    (found,) = jobs.readings(lines)
    assert isinstance(found, NvidiaSmi)
    assert found.complete, found.incomplete
    assert (found.driver, len(found.rows), found.unread_total, found.processes) == (driver, 8, 0, 0)
    if profile.gpu.memory_mib:
        assert {row.memory_mib for row in found.rows} == {profile.gpu.memory_mib}


def test_the_paper_is_met() -> None:
    """The table shows the Redpaper's GPUs, buses and CUDA for its driver."""
    (found,) = jobs.readings(nvidia_smi.nvidia_smi(("nvidia-smi",), _check(DGX1_V100_16GB, "440.33.01")).lines)
    assert isinstance(found, NvidiaSmi)
    assert found.cuda == "10.2"
    assert [row.bus for row in found.rows][2:5] == ["00000000:0A:00.0", "00000000:0B:00.0", "00000000:85:00.0"]
    assert {row.name for row in found.rows} == {"Tesla V100-SXM2..."}


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("profile", [DGX1_V100_16GB, DGX_A100], ids=str)
def test_the_matrix_is_the_profiles(profile: Profile, driver: str) -> None:
    """The matrix is symmetric and that of the profile."""
    (found,) = jobs.readings(nvidia_smi.nvidia_smi(("nvidia-smi", "topo", "-m"), _check(profile, driver)).lines)
    assert isinstance(found, NvidiaSmiTopo)
    assert found.complete, found.incomplete
    assert (found.asymmetric, found.unread_total) == ((), 0)
    for gpu in range(profile.gpus):
        row = found.row(f"GPU{gpu}")
        assert row is not None
        assert row.cpu_affinity == next(node.cpus for node in profile.numa if gpu in node.gpus)
        near = {name for name, way in row.links.items() if way in ("PIX", "PXB")}
        assert {found.nics.get(name, name) for name in near} == {hca.name for hca in profile.hcas if gpu in hca.gpus}


def test_the_papers_matrix() -> None:
    """Distances between ports are those of their NUMA nodes."""
    (found,) = jobs.readings(
        nvidia_smi.nvidia_smi(("nvidia-smi", "topo", "-m"), _check(DGX1_V100_16GB, "440.64")).lines
    )
    assert isinstance(found, NvidiaSmiTopo)
    row = found.row("mlx5_2")
    assert row is not None
    assert " ".join(row.links.values()) == "SYS SYS SYS SYS PIX PIX PHB PHB SYS SYS X PHB"


def test_a_part_of_the_gpus_is_numbered_from_zero() -> None:
    """A pod sees only the GPUs that it was given."""
    job = jobs.rdma_test(gpus=(5, 7))
    (found,) = jobs.readings(nvidia_smi.nvidia_smi(("nvidia-smi",), job).lines)
    assert isinstance(found, NvidiaSmi)
    assert [(row.index, row.bus) for row in found.rows] == [(0, "00000000:86:00.0"), (1, "00000000:8A:00.0")]


def test_without_driver_or_matrix() -> None:
    """Without the GPU stack there are no GPUs, and without a documented topology no matrix."""
    assert nvidia_smi.nvidia_smi(("nvidia-smi",), _check(DGX1_V100_16GB, None, has_driver=False)).exit_code == 127
    (line,) = nvidia_smi.nvidia_smi(("nvidia-smi", "topo", "-m"), _check(DGX2H, "440.64")).lines
    assert line.startswith("simulated by hpc: no document gives the matrix")


def test_vector_add_ends_as_printed() -> None:
    """The smoke test fails without a GPU."""
    (found,) = jobs.readings(vector_add((), jobs.rdma_test(gpus=(3,))).lines)
    assert isinstance(found, CudaVectorAdd)
    assert (found.passed, found.elements, found.blocks, found.threads) == (True, 50_000, 196, 256)
    failed = vector_add((), jobs.rdma_test())
    assert failed.exit_code == 1
    (other,) = jobs.readings(failed.lines)
    assert isinstance(other, CudaVectorAdd)
    assert other.failure is not None


@pytest.mark.parametrize("tag", ["1.11", "1.0.0-beta6", "v0.9.0", "v0.20.0"])
def test_the_plugin_registers_where_there_is_a_driver(tag: str) -> None:
    """The plugin's log shows a registration exactly where the node's resources do."""
    (found,) = jobs.readings(device_plugin_log(tag, jobs.STARTED, has_driver=True))
    assert isinstance(found, DevicePlugin)
    assert (found.complete, found.in_order, found.registered, found.failures) == (True, True, True, ())
    (other,) = jobs.readings(device_plugin_log(tag, jobs.STARTED, has_driver=False))
    assert isinstance(other, DevicePlugin)
    assert (other.registered, bool(other.failures)) == (False, True)
