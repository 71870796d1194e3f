"""What tools print of a simulated node; tests/toolkit/cli/hardware/test_node_machine.py reads its machine from that."""

from dataclasses import replace

import pytest

from core.apis.names import SIMULATED
from core.hardware.profiles import PROFILES
from core.hardware.profiles.records import MEMORY_REPORTED
from tests.support.machines import DGX1_V100_16GB, DGX2H, DGX_A100
from tests.support.simulated_nodes import ran
from toolkit.simulator.performance import nvidia_smi, pod_commands
from toolkit.simulator.performance.job import Launched, Machine, Worker

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
