"""What a node check prints, and the smallest programs of a GPU."""

from dataclasses import replace

import pytest

from core.apis.names import SIMULATED
from core.hardware.profiles import PROFILES, Profile
from core.hardware.profiles.records import MEMORY_REPORTED
from tests.support.machines import DGX1_V100_16GB, DGX2H, DGX_A100
from tests.support.simulated_nodes import ran
from tests.toolkit.simulator.performance import jobs
from toolkit.evidence.tools.cuda_vector_add import CudaVectorAdd
from toolkit.evidence.tools.device_plugin import DevicePlugin
from toolkit.evidence.tools.nvidia_smi import NvidiaSmi
from toolkit.evidence.tools.nvidia_smi_topo import NvidiaSmiTopo
from toolkit.simulator.actors.podlogs import device_plugin_log
from toolkit.simulator.performance import nvidia_smi, pod_commands
from toolkit.simulator.performance.examples import vector_add
from toolkit.simulator.performance.job import Launched, Machine, Worker

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


H100 = PROFILES["dgx-h100"]


def _lines(me: Worker, command: str) -> tuple[str, ...]:
    job = Launched(me=me, image="x", words=("sh", "-c", command), run="test", workers=(me,), machines=(me.machine,))
    return pod_commands.simulate(job).lines


def test_interfaces_are_those_of_the_pods_network() -> None:
    """In the network of the node there are all, as udev has named them; in its own a pod sees none."""
    machine = Machine("node", DGX_A100, interfaces={"mlx5_0": "rail0"}, ports_down=frozenset({"mlx5_1"}))
    worker = Worker("pod", machine)
    assert _lines(worker, "ibdev2netdev") == ()
    shown = _lines(replace(worker, host_network=True), "ibdev2netdev")
    assert shown[:2] == ("mlx5_0 port 1 ==> rail0 (Up)", "mlx5_1 port 1 ==> ibp18s0 (Down)")


def test_a_port_without_a_link() -> None:
    """Ibstat shows its state, and no address."""
    down = Worker("pod", Machine("node", DGX1_V100_16GB, ports_down=frozenset({"mlx5_2"})))
    shown = "\n".join(_lines(down, "ibstat mlx5_2"))
    assert "\t\tState: Down\n\t\tPhysical state: Disabled\n\t\tRate: 40\n\t\tBase lid: 0\n" in shown
    assert "CA 'mlx5_0'" not in shown
    assert _lines(down, "ibstat mlx5_9")[0].startswith("ibpanic: [1] main: 'mlx5_9'")


def test_bridges_are_devices_without_an_interface() -> None:
    """NVSwitches' bridges are in sysfs, ibstat and lspci as any adapter."""
    text = ran(PROFILES["dgx-b200"], "ibstat; ls -l /sys/class/infiniband; ibdev2netdev")
    assert "CA 'mlx5_3'\n\tCA type: MT4129\n" in text
    assert " mlx5_3 -> ../../devices/pci0000:ef/0000:ef:00.0/infiniband/mlx5_3\n" in text
    assert "mlx5_3 port 1" not in text


def test_addresses_of_devices_are_their_own() -> None:
    """Given addresses are kept, and invented ones are unique."""
    for profile in PROFILES.values():
        listed = ran(profile, "lspci -D -nn").splitlines()
        addresses = [line.partition(" ")[0] for line in listed]
        assert len(addresses) == len({*addresses}) == profile.gpus + len(profile.devices)
        assert {device.pci for device in profile.devices if device.pci} <= {*addresses}


@pytest.mark.parametrize(
    ("options", "first"),
    [
        ("", "18:00.0 Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]"),
        ("-nn", "18:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 Family [ConnectX-7] [15b3:1021]"),
        ("-D -nn -d 10de:", "0000:1a:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:0000]"),
    ],
)
def test_lspci_shows_what_is_requested(options: str, first: str) -> None:
    """Domains, numbers, and devices of one vendor."""
    assert ran(H100, f"lspci {options}").partition("\n")[0] == first


def test_what_no_document_gives_is_not_invented() -> None:
    """A machine without a list of NUMA nodes says so, and so does a node without a machine."""
    assert ran(DGX2H, "numactl -H") == f"{SIMULATED}: no document gives the NUMA nodes of dgx2h\n"
    assert "NUMA" not in ran(DGX2H, "lscpu")
    plain = Worker("pod", Machine("node"))
    for tool in ("lscpu", "lspci", "cat /proc/meminfo", "numactl -H"):
        assert _lines(plain, tool)[0].startswith(f"{SIMULATED}: no document gives the ")


def test_gpus_of_nodes_with_memory_of_their_own() -> None:
    """Memory of GPUs is NUMA nodes without CPUs, and the rest of the memory is shared out."""
    grace = DGX_A100.model_copy(update={"gpu_memory_nodes": (8, 9), "memory_gib": 1024})
    shown = ran(grace, "numactl -H")
    assert "available: 10 nodes (0-9)\n" in shown
    size = nvidia_smi.memory_mib(DGX_A100)
    assert f"node 9 cpus:\nnode 9 size: {size} MB\n" in shown
    rest = (int(1024 * MEMORY_REPORTED * 1024) - 2 * size) // len(DGX_A100.numa)
    assert f"node 0 size: {rest} MB\n" in shown
