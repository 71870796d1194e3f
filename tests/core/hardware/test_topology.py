"""Views of the topology."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.hardware import cpus, topology
from core.hardware.placement import Reserve, share
from core.hardware.profiles import PROFILES, Profile
from tests.support.machines import DGX1_V100_16GB, DGX2H, DGX_A100, SYS_4029GP_TVRT, pcie_server

NAMED = [known for known in PROFILES.values() if known.hcas]
MAPPED = [known for known in PROFILES.values() if known.numa]


@pytest.mark.parametrize(
    ("machine", "nearest"),
    [
        (DGX1_V100_16GB, [("mlx5_0",), ("mlx5_0",), ("mlx5_1",), ("mlx5_1",), ("mlx5_2",), ("mlx5_2",)]),
        (DGX_A100, [("mlx5_0", "mlx5_1")] * 2 + [("mlx5_2", "mlx5_3")] * 2 + [("mlx5_6", "mlx5_7")] * 2),
    ],
    ids=str,
)
def test_a_gpu_has_its_own_ports(machine: Profile, nearest: list[tuple[str, ...]]) -> None:
    """A GPU's ports are those of the shortest distance."""
    found = [tuple(hca.name for hca in topology.nearest_hcas(machine, gpu)) for gpu in range(6)]
    assert found == nearest


def test_a_gpu_that_is_not_there_is_refused() -> None:
    """An unknown GPU is refused."""
    with pytest.raises(ValueError, match="dgx-a100 has the GPUs 0-7, not 8"):
        topology.nearest_hcas(DGX_A100, 8)
    assert topology.nearest_hcas(DGX2H, 15) == ()


def test_gpudirect_reaches_the_nearest_port() -> None:
    """The GPUDirect level reaches the nearest port."""
    assert topology.gpudirect_level(DGX1_V100_16GB) == "PIX"
    assert topology.gpudirect_level(DGX_A100) == "PXB"
    with pytest.raises(ValueError, match="dgx2h: no port is known to be next to a GPU"):
        topology.gpudirect_level(DGX2H)


@pytest.mark.parametrize(
    ("machine", "level"),
    [
        (pcie_server("NODE NODE SYS SYS", "SYS SYS NODE NODE"), "PHB"),
        (pcie_server("PHB NODE SYS SYS", "SYS SYS PIX NODE"), "PHB"),
        (pcie_server("PIX PXB SYS SYS", "SYS SYS PXB PIX"), "PXB"),
        (pcie_server("PIX PIX SYS SYS", "SYS SYS PXB PXB"), "PXB"),
        (pcie_server("PIX SYS", links=((0, 4), (4, 0))), "PIX"),
        (pcie_server("NODE SYS", links=((0, 4), (4, 0))), "PHB"),
    ],
)
def test_the_level_reaches_a_port_from_every_gpu(machine: Profile, level: str) -> None:
    """Where a GPU has host bridges to its nearest port, and no NVLink to a GPU that is nearer, the level is PHB."""
    assert (topology.gpudirect_level(machine), topology.out_of_reach(machine)) == (level, ())


def test_gpus_that_reach_no_port_have_no_gpudirect() -> None:
    """GPUs that reach every port over the link between sockets are named; on Grace the matrix does not tell."""
    far = pcie_server("SYS SYS NODE NODE", "SYS SYS NODE NODE")
    assert topology.out_of_reach(far) == (0, 1)
    with pytest.raises(ValueError, match="pcie-server: GPU 0, 1 reach every port over the link between sockets only"):
        topology.gpudirect_level(far)
    assert topology.out_of_reach(far.model_copy(update={"cpu_architecture": "aarch64"})) == ()
    assert topology.out_of_reach(DGX2H) == ()


def test_nccl_gets_whole_names() -> None:
    """NCCL_IB_HCA matches whole names, so that mlx5_1 does not mean mlx5_10."""
    assert topology.nccl_ib_hca(DGX1_V100_16GB.hcas) == "=mlx5_0,mlx5_1,mlx5_2,mlx5_3"
    with pytest.raises(ValueError, match="without a port means every port"):
        topology.nccl_ib_hca(())


@pytest.mark.parametrize("machine", NAMED, ids=lambda known: str(known.name))
def test_rail_i_is_compute_port_i(machine: Profile) -> None:
    """Rails are the compute ports in their order."""
    rails = topology.rails(machine)
    assert [rail.index for rail in rails] == list(range(machine.ports.count))
    assert [rail.hca for rail in rails] == list(machine.hcas)
    assert [rail.name for rail in rails][:2] == ["rail0", "rail1"]


def test_ports_without_names_are_no_rails() -> None:
    """Ports without names are not rails."""
    assert topology.rails(SYS_4029GP_TVRT) == ()


def test_system_cpus_are_beside_the_storage_ports_of_a_dgx_a100() -> None:
    """Reserved CPUs of a DGX A100 are on NUMA nodes without GPUs."""
    assert topology.reserved_cpus(DGX_A100, 32) == "0-15,128-143"
    assert cpus.parse(topology.reserved_cpus(DGX_A100, 128)) == topology.cpus_without_gpus(DGX_A100)
    with pytest.raises(ValueError, match="dgx-a100 has 128 CPUs to reserve, not 130"):
        topology.reserved_cpus(DGX_A100, 130)


def test_system_cpus_come_equally_from_the_sockets_of_a_dgx1() -> None:
    """Reserved CPUs of a DGX-1 come equally from both sockets."""
    assert topology.reserved_cpus(DGX1_V100_16GB) == "0-1,20-21,40-41,60-61"
    assert topology.cpus_without_gpus(DGX1_V100_16GB) == frozenset()


@given(some.sampled_from(MAPPED), some.integers(min_value=1, max_value=40))
def test_reserved_cpus_are_whole_cores(machine: Profile, cores: int) -> None:
    """Reserved CPUs are whole cores."""
    count = cores * machine.threads_per_core
    reserved = cpus.parse(topology.reserved_cpus(machine, count))
    assert len(reserved) == count
    assert {cpu % machine.cpu_cores for cpu in reserved} == {cpu for cpu in reserved if cpu < machine.cpu_cores}


@pytest.mark.parametrize(
    ("machine", "count", "fault"),
    [
        (DGX1_V100_16GB, 7, "reserve whole cores of 2 CPUs, at least one, not 7"),
        (DGX1_V100_16GB, 0, "at least one, not 0"),
        (SYS_4029GP_TVRT, 8, "sys-4029gp-tvrt: no document gives its NUMA nodes"),
    ],
)
def test_what_cannot_be_reserved_is_refused(machine: Profile, count: int, fault: str) -> None:
    """A reserve of no, partial or too many cores, or without a NUMA map, is refused."""
    with pytest.raises(ValueError, match=fault):
        topology.reserved_cpus(machine, count)


def test_the_reserve_of_the_lab_is_the_default() -> None:
    """The default reserve is that of the Redpaper's machine."""
    assert topology.pagepool_gib(DGX1_V100_16GB) == 128
    assert topology.reserve(DGX1_V100_16GB) == Reserve()


@pytest.mark.parametrize("machine", MAPPED, ids=lambda known: str(known.name))
def test_a_pods_share_fits_beside_its_gpus(machine: Profile) -> None:
    """A pod's share of CPUs fits on the NUMA nodes of its GPUs."""
    one = share(machine, 1, topology.reserve(machine))
    for node in machine.numa:
        assert one.cpus * len(node.gpus) <= len(node.cpu_set)


@pytest.mark.parametrize("machine", PROFILES.values(), ids=lambda known: str(known.name))
def test_a_pod_with_all_gpus_fits_into_what_a_machine_really_has(machine: Profile) -> None:
    """A pod with all GPUs fits into the memory that Linux reports, 1.7 % less than nominal."""
    kept = topology.reserve(machine, pagepool=False)
    allocatable = machine.memory_gib * 0.983 - 1.1
    assert share(machine, machine.gpus, kept).memory_gib <= allocatable - 2


@pytest.mark.parametrize("machine", MAPPED, ids=lambda known: str(known.name))
@pytest.mark.parametrize("reserved", [2, 8, 32])
def test_daemons_have_cpus_beside_the_reserved_ones(machine: Profile, reserved: int) -> None:
    """DaemonSets have CPUs beside the kubelet's reserved ones."""
    kept = topology.reserve(machine, kubelet_reserved=reserved)
    assert kept.cpus >= reserved + 4
    assert share(machine, machine.gpus, kept).cpus <= machine.cpus - reserved - 4


def test_pods_of_a_machine_whose_free_nodes_are_all_reserved_leave_some_for_daemons() -> None:
    """CPUs of NUMA nodes without GPUs are not counted for kubelet and DaemonSets at once."""
    assert topology.reserve(DGX_A100, kubelet_reserved=8).cpus == 128
    assert topology.reserve(DGX_A100, kubelet_reserved=128).cpus == 132


@pytest.mark.parametrize("reserved", [0, 8, 128])
def test_what_is_kept_by_default_is_enough(reserved: int) -> None:
    """The default reserve is at least the least reserve."""
    for machine in PROFILES.values():
        kept = topology.reserve(machine, pagepool=False, kubelet_reserved=reserved)
        least = topology.least_reserve(machine, reserved)
        assert kept.cpus >= least.cpus
        assert kept.memory_gib >= least.memory_gib


def test_the_least_is_the_kubelets_and_the_daemons_part() -> None:
    """The least reserve is the kubelet's part and that of the DaemonSets."""
    assert topology.least_reserve(DGX1_V100_16GB, 8) == Reserve(cpus=9, memory_gib=16)
    assert topology.least_reserve(DGX_A100) == Reserve(cpus=2, memory_gib=32)
