"""The index of a pod's own address on a RoCE port, found by a shell in a machine's files."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from components.fabric import gid_index

NODE = ("192.168.10.1", "RoCE v2")
OTHER_POD = ("192.168.10.70", "RoCE v2")
FIRST, MINE = ("192.168.10.17", "IB/RoCE v1"), ("192.168.10.17", "RoCE v2")
NOBODY = ":".join(["0000"] * 8)
Table = Mapping[int, tuple[str, str] | None]


def gid(address: str) -> str:
    """Return an IPv4 address as sysfs shows a GID."""
    numbers = [int(part) for part in address.split(".")]
    return "0000:0000:0000:0000:0000:ffff:{:02x}{:02x}:{:02x}{:02x}".format(*numbers)


def machine(root: Path, tables: Mapping[str, Table]) -> None:
    """Write the tables of ports: index -> address and version, or None for an empty entry."""
    for hca, table in tables.items():
        port = root / "sys" / "class" / "infiniband" / hca / "ports" / "1"
        (port / "gids").mkdir(parents=True)
        (port / "gid_attrs" / "types").mkdir(parents=True)
        for index, entry in table.items():
            (port / "gids" / str(index)).write_text(f"{gid(entry[0]) if entry else NOBODY}\n")
            if entry:
                (port / "gid_attrs" / "types" / str(index)).write_text(entry[1] + "\n")
    trie = root / "proc" / "net" / "fib_trie"
    trie.parent.mkdir(parents=True)
    mine = ("192.168.10.17", "192.168.11.17")
    trie.write_text("Local:\n" + "".join(f"           |-- {each}\n              /32 host LOCAL\n" for each in mine))


def run(root: Path, commands: str, shell: str = "sh") -> subprocess.CompletedProcess[str]:
    """Run commands where `root` is the root of /sys and /proc."""
    script = f"{commands};echo $index".replace("/sys/", f"{root}/sys/").replace("/proc/", f"{root}/proc/")
    return subprocess.run([shell, "-c", script], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize(
    ("table", "index"),
    [
        ({0: ("192.168.10.17", "IB/RoCE v1"), 3: MINE}, "3"),
        ({2: None, 3: NODE, 4: OTHER_POD, 10: FIRST, 11: MINE, 12: None}, "11"),
    ],
)
def test_a_pod_finds_its_own_entry(tmp_path: Path, table: Table, index: str, shell: str) -> None:
    """A pod finds the GID index of its own IPv4 address, of RoCE v2."""
    machine(tmp_path, {"mlx5_0": table})
    found = run(tmp_path, gid_index.port_index("mlx5_0"), shell)
    assert (found.stdout.strip(), found.stderr, found.returncode) == (index, "", 0)


def test_a_port_without_an_address_of_the_pod_ends_it(tmp_path: Path) -> None:
    """A port without an address of the pod ends the script with an error."""
    machine(tmp_path, {"mlx5_0": {3: NODE, 5: OTHER_POD, 6: FIRST}})
    found = run(tmp_path, gid_index.port_index("mlx5_0"))
    assert found.returncode == 1
    assert found.stderr == "no RoCE v2 address of this pod on mlx5_0\n"


def test_ports_with_the_same_index_share_it(tmp_path: Path) -> None:
    """Ports with one common index share it, also for NCCL before 2.21."""
    machine(tmp_path, {"mlx5_0": {5: MINE}, "mlx5_1": {3: NODE, 5: ("192.168.11.17", "RoCE v2")}})
    assert run(tmp_path, gid_index.common_index(["mlx5_0", "mlx5_1"])).stdout.strip() == "5"


def test_ports_that_differ_are_left_to_nccl(tmp_path: Path) -> None:
    """Ports with different indexes leave the choice to NCCL."""
    machine(tmp_path, {"mlx5_0": {5: MINE}, "mlx5_1": {7: ("192.168.11.17", "RoCE v2")}})
    found = run(tmp_path, gid_index.common_index(["mlx5_0", "mlx5_1"]))
    assert (found.stdout.strip(), found.returncode) == ("", 0)
    assert "different GID indexes: NCCL before 2.26" in found.stderr


def test_one_port_without_an_address_ends_a_worker(tmp_path: Path) -> None:
    """A worker stops if one of its ports has no address."""
    machine(tmp_path, {"mlx5_0": {5: MINE}, "mlx5_1": {5: OTHER_POD}})
    assert run(tmp_path, gid_index.common_index(["mlx5_0", "mlx5_1"])).returncode == 1
