"""How a node differs from its machine file, by the outputs of simulated nodes in which something was changed."""

import re
from collections.abc import Callable

import pytest

from core.hardware.profiles import PROFILES
from tests.support.node_outputs import readings
from tests.support.simulated_nodes import job_log
from toolkit.cli.hardware.comparison import Comparison, compare
from toolkit.cli.hardware.tool_facts import gather

H100 = PROFILES["dgx-h100"]
LOG = job_log(H100)


def _compared(log: str) -> Comparison:
    facts = gather(readings(log))
    assert facts.contradictions == {}
    return compare(H100, facts)


@pytest.mark.parametrize("name", PROFILES)
def test_a_node_is_like_its_machine(name: str) -> None:
    """The node of a machine has no difference, and what its documents do not give is named."""
    found = compare(PROFILES[name], gather(readings(job_log(PROFILES[name]))))
    assert found.differences == []
    open_parts = ["ports"] if not PROFILES[name].hcas else []
    assert [each.what for each in found.unknown if each.what not in ("NVLinks", "NUMA nodes of the GPUs")] == open_parts


def _without_device(log: str) -> str:
    """Return the outputs of a node without the adapter mlx5_3, whose number no other one gets."""
    log = re.sub(r"CA 'mlx5_3'\n(?:\t.*\n)*", "", log)
    log = re.sub(r"0000:40:00\.0 Infiniband.*\n\tNUMA.*\n\n", "", log)
    log = re.sub(r".*mlx5_3 (?:->|port).*\n", "", log)
    log = log.replace("  NIC3: mlx5_3\n", "")
    lines = []
    for line in log.splitlines(keepends=True):
        cells = line.split("\t")
        if len(cells) > 20 and (cells[0] == "" or re.match(r"(?:GPU|NIC)\d", cells[0])):
            line = "" if cells[0] == "NIC3" else "\t".join(cells[:12] + cells[13:])  # noqa: PLW2901
        lines.append(line)
    return "".join(lines)


def _replaced(old: str, new: str) -> Callable[[str], str]:
    def change(log: str) -> str:
        assert old in log
        return log.replace(old, new)

    return change


def _swapped(log: str) -> str:
    """Return the outputs of a node whose adapters of GPU 0 and 1 are in each other's slots."""
    assert "0000:18:00.0" in log
    exchanged = {"0000:18:00.0": "0000:40:00.0", "0000:40:00.0": "0000:18:00.0"}
    return re.sub(
        r"(mlx5_[03] -> .*/)(0000:(?:18|40):00\.0)(/inf)", lambda found: found[1] + exchanged[found[2]] + found[3], log
    )


def _port_down(log: str) -> str:
    state = "State: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 400"
    begin = log.index("CA 'mlx5_4'")
    return log[:begin] + log[begin:].replace(state, "State: Down\n\t\tPhysical state: Polling\n\t\tRate: 40", 1)


def _slower(log: str) -> str:
    begin = log.index("CA 'mlx5_5'")
    return log[:begin] + log[begin:].replace("Rate: 400", "Rate: 200", 1)


def _layer(log: str) -> str:
    begin = log.index("CA 'mlx5_6'")
    return log[:begin] + log[begin:].replace("Link layer: InfiniBand", "Link layer: Ethernet", 1)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (_without_device, ["port mlx5_3 at 0000:40:00.0: expected present, found missing; See `lspci"]),
        (
            _swapped,
            [
                "port at 0000:18:00.0: device: expected mlx5_0, found mlx5_3; An adapter",
                "rail 0 (mlx5_3): next to: expected GPU 0 (PXB), found GPU 1 (PXB); Put adapter and cable",
                "port at 0000:40:00.0: device: expected mlx5_3, found mlx5_0; An adapter",
                "rail 1 (mlx5_0): next to: expected GPU 1 (PXB), found GPU 0 (PXB); Put adapter and cable",
                "mlx5_3: interface: expected ibp24s0, found ibp64s0, that of mlx5_3; Check udev",
                "mlx5_0: interface: expected ibp64s0, found ibp24s0, that of mlx5_0; Check udev",
            ],
        ),
        (
            _replaced(
                "NODE\tSYS\tSYS\tSYS\tSYS\tSYS\tSYS\t0-55,112-167\t0",
                "NODE\tSYS\tSYS\tSYS\tSYS\tSYS\tSYS\t56-111,168-223\t1",
            ),
            [f"GPU{gpu}: NUMA node: expected 0, found 1; Compare firmware" for gpu in range(3)],
        ),
        (
            _replaced("MemTotal:       2110976425", "MemTotal:       2043867561"),
            ["memory: expected 2048 GiB, found 1949 GiB (node 0 1006, node 1 1006); Look for a memory module"],
        ),
        (
            _layer,
            ["mlx5_6: link layer: expected InfiniBand, found Ethernet; `mlxconfig -d 0000:9a:00.0 set LINK_TYPE_P1=1`"],
        ),
        (_port_down, ["mlx5_4: link: expected 400 Gb/s, found no link; Check cable"]),
        (_slower, ["mlx5_5: rate: expected 400 Gb/s, found 200 Gb/s; Check cable"]),
        (
            _replaced("CPU(s):                             224", "CPU(s):                             112"),
            ["logical CPUs: expected 224, found 112; Set SMT"],
        ),
        (
            _replaced("NVIDIA H100 80GB HBM3", "NVIDIA H200"),
            ["model of the GPUs: expected H100-80GB-HBM3, found H200; Name the node's own machine"],
        ),
        (
            _replaced("mlx5_9 port 1 ==> ibp192s0 (Up)", "mlx5_9 port 1 ==> rail5 (Up)"),
            [],
        ),
    ],
)
def test_a_difference_is_one_line(change: Callable[[str], str], expected: list[str]) -> None:
    """Each difference names the field, what is expected and found, and what to do; a renamed interface is none."""
    lines = [str(each) for each in _compared(change(LOG)).differences]
    assert len(lines) == len(expected), lines
    for line, begin in zip(lines, expected, strict=True):
        assert line.startswith(begin)


def test_a_lost_nvlink_is_named_with_both_gpus() -> None:
    """A path over the processors in place of NVLinks is a difference of the two GPUs."""
    log = LOG.replace("GPU0\t X \tNV18\tNV18", "GPU0\t X \tNV18\tSYS").replace("GPU2\tNV18\tNV18", "GPU2\tSYS\tNV18")
    assert [str(each).partition(";")[0] for each in _compared(log).differences] == [
        "GPU0 to GPU2: expected NV18, found no NVLink"
    ]


def test_a_gpu_without_its_nvlinks_is_one_difference() -> None:
    """A GPU that has lost its NVLinks to all others is named once."""
    lines = []
    for line in LOG.splitlines():
        cells = line.split("\t")
        if cells[0] == "GPU5":
            cells = [cell.replace("NV18", "SYS") for cell in cells]
        elif re.fullmatch(r"GPU\d", cells[0]):
            cells[6] = "SYS"
        lines.append("\t".join(cells))
    assert [str(each).partition(";")[0] for each in _compared("\n".join(lines)).differences] == [
        "GPU5: NVLinks: expected NV18 to 7 GPUs, found no NVLink"
    ]


def test_a_gpu_that_has_gone() -> None:
    """Fewer GPUs are one difference: places of the others are not compared by numbers that have moved."""
    log = job_log(H100, gpus=7).replace(
        "0000:21:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:0000]\n", ""
    )
    assert [str(each).partition(";")[0] for each in _compared(log).differences] == [
        "number of GPUs: expected 8, found 7"
    ]


def test_a_further_device_is_named() -> None:
    """A device that the machine has not, which NCCL would try, is a difference; a virtual function is none."""
    stat = LOG[LOG.index("CA 'mlx5_0'") : LOG.index("CA 'mlx5_1'")].replace("mlx5_0", "mlx5_12")
    log = LOG.replace("CA 'mlx5_0'", f"{stat}CA 'mlx5_0'")
    assert [str(each).partition(";")[0] for each in _compared(log).differences] == [
        "device mlx5_12: expected none of this name, found present"
    ]
    row = "mlx5_12 -> ../../devices/pci0000:16/0000:18:00.2/infiniband/mlx5_12\n"
    link = next(line for line in LOG.splitlines(keepends=True) if "mlx5_0 ->" in line)
    log = log.replace(link, link + link.partition("mlx5_0")[0] + row)
    device = "0000:18:00.2 Infiniband controller [0207]: Mellanox Technologies MT2910 Virtual Function [15b3:101e]\n\n"
    log = log.replace("0000:29:00.0 Inf", f"{device}0000:29:00.0 Inf")
    assert _compared(log).differences == []


def test_what_is_not_printed_is_not_compared() -> None:
    """Of an output that is missing the parts are named that nothing else shows."""
    found = compare(H100, gather(readings(LOG[LOG.index("$ lscpu") : LOG.index("$ numactl")])))
    assert found.differences == []
    assert {each.what for each in found.unknown} == {"GPUs", "memory", "ports"}
