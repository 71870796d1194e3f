"""Machines of many makers, by what their nodes print: bridges, meshes, adapters far from GPUs, shortened names."""

import pytest

from tests.support.node_outputs import machine_of, rails
from toolkit.cli.hardware.machine_file import MachineFields

_PATHS = ("SYS", "NODE", "PHB", "PXB", "PIX")


def _topo(gpus: str, *ports: str, names: tuple[str, ...] = (), numa: str = "") -> str:
    """Return a matrix: `gpus` has a row of paths for each GPU, `/` between them, and `ports` the paths of a port each.

    The first half of the GPUs is on NUMA node 0 unless `numa` names the node of each.
    """
    rows, columns = [row.split() for row in gpus.split("/")], [port.split() for port in ports]
    nodes = numa.split() or ["0" if gpu < len(rows) // 2 else "1" for gpu, _ in enumerate(rows)]
    heads = [f"GPU{gpu}" for gpu, _ in enumerate(rows)] + [f"NIC{port}" for port, _ in enumerate(columns)]
    lines = ["\t".join(["", *heads, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"])]
    for gpu, row in enumerate(rows):
        own = [*row, *(column[gpu] for column in columns), f"{8 * int(nodes[gpu])}-{8 * int(nodes[gpu]) + 7}"]
        lines.append("\t".join([f"GPU{gpu}", *own, nodes[gpu], "", "N/A"]))
    for port, column in enumerate(columns):
        between = [
            "X" if port == other else "PIX" if columns[other] == column else "SYS" for other, _ in enumerate(columns)
        ]
        lines.append("\t".join([f"NIC{port}", *column, *between]))
    legend = [
        "",
        "Legend:",
        "",
        "  X    = Self",
        *(f"  {path} = Connection" for path in _PATHS),
        "  NV#  = NVLinks",
        "",
    ]
    known = names or tuple(f"mlx5_{port}" for port, _ in enumerate(columns))
    return "\n".join([*lines, *legend, "NIC Legend:", "", *(f"  NIC{n}: {name}" for n, name in enumerate(known)), ""])


def _smi(name: str, memory: int, gpus: int) -> str:
    """Return the table of nvidia-smi of a driver that calls its version that of the kernel-mode driver."""
    frame = f"+{'-' * 41}+{'-' * 24}+{'-' * 22}+"
    lines = ["| NVIDIA-SMI 610.43.02              KMD Version: 610.43.02     CUDA UMD Version: 13.3     |"]
    for gpu in range(gpus):
        lines += [
            f"|   {gpu}  {name:<26}   On  |   00000000:{gpu + 1:02X}:00.0 Off |                    0 |",
            f"| N/A   30C    P0             60W /  300W |       1MiB / {memory}MiB |      0%      Default |",
            f"|{' ' * 41}|{' ' * 24}|             Disabled |",
            frame,
        ]
    lines += [
        frame,
        "| Processes:".ljust(90) + "|",
        f"|{'=' * 89}|",
        "|  No running processes found".ljust(90) + "|",
        frame,
    ]
    return "\n".join([*lines, ""])


def _links(one: MachineFields) -> tuple[str, int]:
    return one.fields["nvlink"]["shape"], one.fields["nvlink"].get("gbs", 0)


PAIRS = "X NV4 NODE NODE SYS SYS SYS SYS/NV4 X NODE NODE SYS SYS SYS SYS/NODE NODE X NV4 SYS SYS SYS SYS/"
PAIRS += "NODE NODE NV4 X SYS SYS SYS SYS/SYS SYS SYS SYS X NV4 NODE NODE/SYS SYS SYS SYS NV4 X NODE NODE/"
PAIRS += "SYS SYS SYS SYS NODE NODE X NV4/SYS SYS SYS SYS NODE NODE NV4 X"
FOUR = "X {0} {0} {0}/{0} X {0} {0}/{0} {0} X {0}/{0} {0} {0} X"
HALVES = "X NODE SYS SYS/NODE X SYS SYS/SYS SYS X NODE/SYS SYS NODE X"


def test_pairs_with_bridges() -> None:
    """GPUs in pairs are bridged; ports at PIX of some pairs leave the others without one (nccl 1343)."""
    one = machine_of(
        _smi("NVIDIA A40", 46068, 8),
        _topo(PAIRS, "NODE NODE PIX PIX SYS SYS SYS SYS", "SYS SYS SYS SYS NODE NODE PIX PIX"),
    )
    assert (one.fields["gpu"], _links(one)) == ("ampere/a40", ("bridged", 112))
    assert rails(one) == [("mlx5_0", (2, 3), "PIX"), ("mlx5_1", (6, 7), "PIX")]
    assert "no port is next to GPU 0, 1, 4, 5" in one.remarks
    assert not any("no GPUDirect" in remark for remark in one.remarks)


@pytest.mark.parametrize(
    ("links", "name", "memory", "gbs"),
    [("NV4", "NVIDIA A100-SXM4-80GB", 81920, 600), ("NV6", "NVIDIA H100 80GB HBM3", 81559, 900)],
)
def test_four_gpus_that_are_all_joined(links: str, name: str, memory: int, gbs: int) -> None:
    """Four GPUs whose links add up to those of one are a mesh without switches (nccl 1617, nccl-tests 331)."""
    ports = [" ".join("PXB" if gpu == port else "SYS" for gpu in range(4)) for port in range(4)]
    one = machine_of(_smi(name, memory, 4), _topo(FOUR.format(links), *ports, numa="3 1 7 5"))
    assert (_links(one), one.is_sound) == (("mesh", gbs), True)
    assert rails(one) == [(f"mlx5_{gpu}", (gpu,), "PXB") for gpu in range(4)]


def test_adapters_over_host_bridges() -> None:
    """Ports at NODE are rails with the GPUs of their node; of GPUs that reach none of them it is remarked."""
    far = machine_of(_smi("NVIDIA L40S", 46068, 4), _topo(HALVES, "SYS SYS NODE NODE", "SYS SYS NODE NODE"))
    assert (far.fields["nvlink"], rails(far)) == ({"shape": "none"}, [(f"mlx5_{n}", (2, 3), "NODE") for n in range(2)])
    assert "jobs use no GPUDirect: GPU 0, 1 reach every port over the link between sockets only" in far.remarks
    near = machine_of(_topo(HALVES, "NODE NODE SYS SYS", "SYS SYS PHB NODE", names=("mlx5_bond_0", "rocep1s0f0")))
    assert rails(near) == [("mlx5_bond_0", (0, 1), "NODE"), ("rocep1s0f0", (2,), "PHB")]
    assert "jobs use GPUDirect over host bridges (PHB)" in near.remarks


def test_an_adapter_at_sys_of_every_gpu() -> None:
    """A single card that is on the NUMA node of no GPU is a port without GPUs (horovod 288)."""
    one = machine_of(_topo(FOUR.format("NV2"), "SYS SYS SYS SYS"))
    assert [(hca["gpus"], hca["distance"]) for hca in one.fields["hcas"]] == [([], None)]
    assert "jobs use no GPUDirect: GPU 0, 1, 2, 3 reach every port over the link between sockets only" in one.remarks


def test_a_matrix_of_pcie_alone() -> None:
    """`topo -mp` gives rails and leaves NVLinks open; the same matrix with NV# in its legend is a fault (DeepEP 60)."""
    matrix = _topo(HALVES, *(" ".join("PIX" if gpu == port else "SYS" for gpu in range(4)) for port in range(4)))
    table = _smi("NVIDIA H100 80GB HBM3", 81559, 4)
    alone = machine_of(table, matrix.replace("  NV#  = NVLinks\n", ""))
    assert ("topo -mp" in alone.missing["nvlink"], alone.is_sound, len(rails(alone))) == (True, True, 4)
    lost = machine_of(table, matrix)
    assert ("nvlink" in lost.missing, [text.partition(",")[0] for text in lost.faults]) == (
        True,
        ["no GPU has an NVLink"],
    )


@pytest.mark.parametrize(
    ("name", "memory", "gpu"),
    [
        ("NVIDIA A100-PCI...", 40960, "ampere/a100-pcie-40gb"),
        ("NVIDIA A100-SXM...", 40536, "ampere/a100-sxm4-40gb"),
        ("NVIDIA A100-SXM...", 81920, "ampere/a100-sxm4-80gb"),
        ("Tesla V100-SXM2...", 32510, "volta/v100-sxm2-32gb"),
        ("Tesla V100-PCIE...", 16160, "volta/v100-pcie-16gb"),
        ("NVIDIA A100-PCI...", 81920, None),
        ("NVIDIA RTX PRO 6000 Blac...", 97887, None),
    ],
)
def test_shortened_names(name: str, memory: int, gpu: str | None) -> None:
    """A shortened name with its memory is that of the GPU which alone fits both; else it is shown, and open."""
    one = machine_of(_smi(name, memory, 2))
    assert one.fields.get("gpu") == gpu
    assert gpu or f"{name} with {memory} MiB" in one.missing["gpu"]


def test_a_gpu_that_has_left_the_bus() -> None:
    """A node with seven GPUs of which known machines have eight has a fault, one with four is part of a machine."""
    (fault,) = machine_of(_smi("NVIDIA H200", 143771, 7)).faults
    assert fault.startswith("7 GPUs, and known machines with these have 8: one may have left the bus")
    assert machine_of(_smi("NVIDIA H200", 143771, 4)).is_sound
    assert machine_of(_smi("NVIDIA L40S", 46068, 7)).is_sound


def test_rates_and_link_layers_of_ibstatus() -> None:
    """Ports that ibstatus shows slower are no rails; interfaces are those of `rdma link` (DeepEP 17)."""
    status = "".join(
        f"Infiniband device 'mlx5_{port}' port 1 status:\n"
        f"\tdefault gid:\t fe80:0000:0000:0000:0000:00ff:fe00:000{port}\n"
        "\tbase lid:\t 0x0\n\tsm lid:\t\t 0x0\n\tstate:\t\t 4: ACTIVE\n\tphys state:\t 5: LinkUp\n"
        f"\trate:\t\t {rate} Gb/sec (4X NDR)\n\tlink_layer:\t Ethernet\n\n"
        for port, rate in enumerate((200, 400, 400))
    )
    matrix = _topo("X SYS/SYS X", "PIX SYS", "PIX SYS", "SYS PIX")
    one = machine_of(matrix, status, "link mlx5_1/1 state ACTIVE physical_state LINK_UP netdev ens1np0\n")
    assert [(hca["name"], hca["netdev"], hca["rate_gbps"]) for hca in one.fields["hcas"]] == [
        ("mlx5_1", "ens1np0", 400),
        ("mlx5_2", None, 400),
    ]
    assert one.fields["link_layer"] == "Ethernet"
