"""`./hpc hardware from-logs`: machine files from what nodes print."""

import random
import re
from functools import partial
from pathlib import Path

import pytest

from core.apis.names import SIMULATED
from core.data_files import DataFileError, read
from core.hardware.profiles import PROFILES, read_machine
from tests.support.commands import finished
from tests.support.mutated import mutations
from tests.support.node_outputs import OUTPUTS, machine_of, printed, rails, readings
from tests.support.simulated_nodes import ran
from toolkit.cli.hardware import from_logs, machine_file
from toolkit.cli.hardware.comparison import compare
from toolkit.cli.hardware.tool_facts import gather
from toolkit.cli.shared.errors import Problem
from toolkit.simulator.performance.smi_reports import FIRST_WITH_NUMA

_run = partial(finished, from_logs.command)
H100 = ("topo", "ibdev2netdev", "ibstat", "node", "pci-and-labels")
MATRICES = {
    # today.md a.3, a.4, a.5, a.7: names of the rails in the order of the GPUs
    "dgx-h100": [f"mlx5_{n}" for n in (0, 3, 4, 5, 6, 9, 10, 11)],
    "nccl-1453": [f"mlx5_{n}" for n in (8, 7, 6, 5, 4, 3, 2, 1)],
    "nccl-1357": [f"mlx5_{n}" for n in (0, 1, 2, 3)],
    "dgx-b200": [f"mlx5_{n}" for n in (4, 7, 8, 9, 10, 13, 14, 15)],
    "gb200": [],
}
_FOLLOWING = {"hcas": ("link_layer", "ports", "other_devices"), "gpus": ("gpu_buses",)}
"""Fields that are not known where another is not."""
BRIDGES = {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"}
_DAMAGED = 30


@pytest.mark.parametrize("name", MATRICES)
def test_the_rails_of_published_matrices(name: str) -> None:
    """Of the matrix alone the rails are right, or open with the reason."""
    one = machine_of(printed(f"{name}.topo"))
    assert [rail[0] for rail in rails(one)] == MATRICES[name]
    assert ("hcas" in one.missing) == (not MATRICES[name])


def test_four_ports_for_eight_gpus() -> None:
    """GPUs without a port next to them are named (nccl 1357)."""
    one = machine_of(printed("nccl-1357.topo"))
    assert rails(one) == [(f"mlx5_{n}", (2 * n,), "PIX") for n in range(4)]
    assert "no port is next to GPU 1, 3, 5, 7" in one.remarks


def test_a_port_whose_numa_node_no_output_gives_is_named() -> None:
    """A port that is far from all GPUs is no rail, and in no list without its NUMA node: it is named (nccl 1505)."""
    matrix = "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\n"
    matrix += "GPU0\tX\tNV12\tPXB\tSYS\t0-15\t1\nGPU1\tNV12\tX\tPXB\tSYS\t0-15\t1\n"
    matrix += "NIC0\tPXB\tPXB\tX\tSYS\nNIC1\tSYS\tSYS\tSYS\tX\n\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_4\n"
    one = machine_of(matrix, "mlx5_0 port 1 ==> ib0 (Up)\nmlx5_4 port 1 ==> enp97s0f0 (Up)\n")
    assert rails(one) == [("mlx5_0", (0, 1), "PXB")]
    assert [text for text in one.remarks if text.startswith("no output gives the NUMA node of mlx5_4 (")]


def test_the_file_of_a_dgx_h100_is_complete(tmp_path: Path) -> None:
    """All outputs together make a file that is read as a machine, with the rails of the known one."""
    file = tmp_path / "ours.yaml"
    status, output = _run(*(str(OUTPUTS / f"dgx-h100.{part}.txt") for part in H100), "-o", str(file))
    assert (status, "nothing is missing" in output) == (0, True), output
    made, known = read_machine(file), PROFILES["dgx-h100"]
    assert [hca.model_dump(exclude={"ethernet"}) for hca in made.hcas] == [
        hca.model_dump(exclude={"ethernet"}) for hca in known.hcas
    ]
    for name in ("gpus", "gpu", "cpus", "cpu_cores", "link_layer", "ports", "pci_vendors"):
        assert getattr(made, name) == getattr(known, name), name
    assert made.nvlink.links == known.nvlink.links
    assert [(node.cpus, node.gpus) for node in made.numa] == [(node.cpus, node.gpus) for node in known.numa]
    assert made.memory_gib == 2113404416 // 2**20
    assert [device.name for device in made.other_devices] == ["mlx5_1", "mlx5_2", "mlx5_7", "mlx5_8"]


@pytest.mark.parametrize(("ca_type", "model"), [("MT4129", "ConnectX-7"), ("MT4135", "MT4135")])
def test_an_adapter_without_lspci(ca_type: str, model: str) -> None:
    """Where no lspci names the adapter, its model is that of its CA type, or the CA type where no one knows that."""
    outputs = [printed(f"dgx-h100.{part}") for part in ("topo", "ibdev2netdev", "ibstat", "node")]
    assert machine_of(*(text.replace("MT4129", ca_type) for text in outputs)).fields["ports"]["adapter"] == model


def test_all_outputs_in_one_file_with_blanks_for_tabs() -> None:
    """Outputs that were copied from a terminal into one file, whose tabs are blanks then, are all read."""
    text = "".join(printed(f"dgx-h100.{part}") for part in ("node", "topo", "ibdev2netdev", "pci-and-labels", "ibstat"))
    one = machine_of(text.replace("$ ", "[root@dgx01 ~]# ").expandtabs())
    assert one.missing == {}
    assert [rail[0] for rail in rails(one)] == MATRICES["dgx-h100"]


def test_columns_that_a_terminal_glued_together() -> None:
    """A matrix that was copied from a terminal that wraps lines, without the blanks there, is read whole."""
    text = printed("dgx-h100.topo").expandtabs()
    copied = re.sub(r"(NIC10) +(NIC11)|(NODE|SYS) +(NODE|SYS)(?= +\d)", r"\1\2\3\4", text)
    assert {"NIC10NIC11", "SYSSYS", "NODENODE"} <= {*copied.split()}
    assert machine_of(copied) == machine_of(text)
    assert [rail[0] for rail in rails(machine_of(copied))] == MATRICES["dgx-h100"]


def test_the_bridges_of_a_dgx_b200_are_other_devices() -> None:
    """Bridges without an interface are not rails, and jobs must not use them (nccl 1646)."""
    one = machine_of(printed("dgx-b200.topo"), printed("dgx-b200.ports"))
    assert [rail[0] for rail in rails(one)] == MATRICES["dgx-b200"]
    others = {device["name"]: device["what"] for device in one.fields["other_devices"]}
    assert all(others[name].startswith("no network interface") for name in BRIDGES)
    assert others["mlx5_6"].startswith("Ethernet beside InfiniBand (ens2f1np1")
    assert (one.fields["link_layer"], one.fields["ports"]["rate_gbps"]) == ("InfiniBand", 400)


def test_a_tray_whose_matrix_says_nothing() -> None:
    """Ports that may be rails are listed; Ethernet ones and devices without interface are not (sglang 11208)."""
    one = machine_of(printed("gb200.topo"), printed("gb200.node"))
    assert "hcas" not in one.fields
    assert "no port is at PIX or PXB" in one.missing["hcas"]
    maybe = [text for text in one.remarks if text.startswith("may be a rail")]
    assert [text.split()[4] for text in maybe] == ["mlx5_0", "mlx5_1", "mlx5_4", "mlx5_5"]
    assert (one.fields["cpu_architecture"], one.fields["gpu_memory_nodes"]) == ("aarch64", [2, 10, 18, 26])
    assert [(node["cpus"], node["gpus"]) for node in one.fields["numa"]] == [("0-71", [0, 1]), ("72-143", [2, 3])]


@pytest.mark.parametrize("branch", [440, 580])
@pytest.mark.parametrize("name", [name for name, each in PROFILES.items() if each.nvlink.links and each.hcas])
def test_the_matrix_of_old_and_new_drivers(name: str, branch: int) -> None:
    """The matrix alone, as drivers of both times print it, gives a machine's rails and NUMA nodes."""
    known = PROFILES[name]
    one = machine_of(ran(known, "nvidia-smi topo -m", driver=f"{branch}.1"))
    assert rails(one) == [(hca.name, hca.gpus, hca.distance) for hca in known.hcas]
    if branch >= FIRST_WITH_NUMA and all(node.gpus for node in known.numa):
        assert [(node["id"], node["cpus"], tuple(node["gpus"])) for node in one.fields["numa"]] == [
            (node.id, node.cpus, node.gpus) for node in known.numa
        ]


def test_simulated_outputs_are_named() -> None:
    """A file that is made of simulated outputs says so."""
    assert (
        "simulated, not measured: file1"
        in machine_of(printed("dgx-h100.node"), f"{SIMULATED}\n{printed('dgx-h100.topo')}").remarks
    )


def test_what_is_missing_is_listed_in_the_file(tmp_path: Path) -> None:
    """A file with open fields says which, and is refused as a machine with their names; its folder is created."""
    file = tmp_path / "machines" / "ours.yaml"
    status, output = _run(str(OUTPUTS / "nccl-1453.topo.txt"), "-o", str(file))
    assert (status, "to complete: memory_gib: no /proc/meminfo" in output) == (0, True)
    lacking = ["model", "gpu", "cpu_cores", "memory_gib", "link_layer", "ports"]
    assert read(file)["to_complete"] == lacking
    with pytest.raises(DataFileError, match=f"{', '.join(lacking)}: missing"):
        read_machine(file)
    with pytest.raises(Problem, match=r"ours.yaml exists[^\n]*\nRemove it"):
        _run(str(OUTPUTS / "gb200.topo.txt"), "-o", str(file))


@pytest.mark.parametrize(
    ("part", "old", "new", "error"),
    [
        ("ibstat", "0xa088c203000b0a10\n\t\tLink", "0xa088c203000c0a10\n\t\tLink", "mlx5_11: port GUID"),
        ("node", "cdc05b7", "cdc05b8", "GPU7: UUID"),
        ("pci-and-labels", "hostname=dgx01", "hostname=dgx02", "name: dgx01"),
    ],
)
def test_outputs_of_two_nodes_contradict_each_other(part: str, old: str, new: str, error: str) -> None:
    """What another node of the same kind prints is named with both lines, and leaves no field open."""
    text = printed(f"dgx-h100.{part}")
    assert old in text
    one, alone = machine_of(text, text.replace(old, new)), machine_of(text)
    assert [re.sub(r"\d+\)", "N)", line) for line in one.contradictions if line.startswith(error)]
    assert all(re.search(r" \(file0:\d+\), but .* \(file1:\d+\)$", line) for line in one.contradictions)
    assert (one.fields, one.missing) == (alone.fields, alone.missing)
    with pytest.raises(Problem, match=re.escape(error)):
        from_logs.require_one_node(gather(readings(text, text.replace(old, new))))


@pytest.mark.parametrize(
    ("part", "old", "new", "field", "error"),
    [
        ("topo", "\n  NIC11: mlx5_11", "\n  NIC11: mlx5_10", "hcas", "mlx5_10: column of the matrix: NIC10"),
        ("topo", "GPU3\tNV18", "GPU3\tNV17", "nvlink", "GPU0: path to GPU3: NV18"),
        ("ibdev2netdev", "mlx5_11 port", "mlx5_12 port", "hcas", "mlx5_12: device of the matrix: ibp220s0"),
        ("ibdev2netdev", "ibp24s0", "enp24s0np0", "link_layer", "mlx5_0: link layer: InfiniBand"),
        (
            "node",
            "NUMA node1 CPU(s):                  56-111",
            "NUMA node1 CPU(s):                  57-111",
            "numa",
            "NUMA node 1: CPUs: 57-111,168-223",
        ),
        ("node", "size: 1032146", "size: 532146", "memory_gib", "memory: MemTotal 2113404416 kB"),
        ("node", "size: 1032146", "size: 4699", "memory_gib", "MB in the NUMA nodes (file3:"),
        (
            "node",
            "Attached GPUs                             : 8",
            "Attached GPUs                             : 4",
            "gpus",
            "number of GPUs: ",
        ),
        ("pci-and-labels", "NVIDIA-H100-80GB-HBM3", "NVIDIA-H200", "gpu", "product of the GPUs: H100-80GB-HBM3"),
    ],
)
def test_a_contradiction_leaves_one_field_open(part: str, old: str, new: str, field: str, error: str) -> None:
    """Two outputs that disagree leave the field that they are about open, with both lines, and nothing else."""
    texts = {each: printed(f"dgx-h100.{each}") for each in H100}
    assert old in texts[part]
    alone = machine_of(*texts.values())
    texts[part] = texts[part].replace(old, new)
    one = machine_of(*texts.values())
    assert alone.fields.keys() - one.fields.keys() == {field, *_FOLLOWING.get(field, ())}
    assert error in one.missing[field]
    assert re.search(r" \(file\d:\d+\), but .* \(file\d:\d+\)$", one.missing[field])


def test_an_interface_that_two_lines_name_is_left_open() -> None:
    """Of a port whose name is contradicted only that name is open; of nodes' memory only the sizes."""
    text = printed("dgx-h100.ibdev2netdev")
    one = machine_of(printed("dgx-h100.topo"), text, text.replace("ibp24s0", "ibp25s0"))
    assert [hca["netdev"] for hca in one.fields["hcas"]][:2] == [None, "ibp64s0"]
    assert "mlx5_0: interface: ibp24s0 (file1:" in one.missing["hcas: netdev"]
    node = printed("dgx-h100.node")
    sizes = machine_of(node.replace("size: 1032146", "size: 4699"), printed("dgx-h100.topo"))
    assert [sorted(each) for each in sizes.fields["numa"]] == [["cpus", "gpus", "id"]] * 2


def test_a_contradiction_is_reported_and_the_file_is_written(tmp_path: Path) -> None:
    """The file has what is not contradicted, and both lines; the exit status is 1."""
    (tmp_path / "node.txt").write_text(printed("dgx-h100.node").replace("size: 1032146", "size: 4699"))
    file = tmp_path / "ours.yaml"
    parts = [str(OUTPUTS / f"dgx-h100.{part}.txt") for part in H100 if part != "node"]
    status, output = _run(*parts, str(tmp_path / "node.txt"), "-o", str(file))
    assert (status, f"{file}: written" in output) == (1, True)
    assert "the outputs contradict each other: memory: MemTotal 2113404416 kB" in output
    assert read(file)["to_complete"] == ["memory_gib"]
    assert "MB in the NUMA nodes" in file.read_text()


def test_files_of_no_known_tool(tmp_path: Path) -> None:
    """An unknown file is refused with its first lines, an empty or missing one with the reason."""
    file = tmp_path / "strange.txt"
    file.write_text("hello\nthere\n")
    for name, part in ((file, f"{file}:1: hello"), (tmp_path / "gone", "No such file")):
        with pytest.raises(Problem, match=re.escape(part)):
            _run(str(OUTPUTS / "gb200.topo.txt"), str(name))
    file.write_text("")
    with pytest.raises(Problem, match="the file is empty"):
        _run(str(file))


def test_lines_that_are_not_read_are_shown(tmp_path: Path) -> None:
    """Lines of unknown tools beside known ones are shown, and the others are used."""
    file = tmp_path / "log.txt"
    file.write_text(f"=== lsblk ===\nsda 1.7T\n{printed('nccl-1453.topo')}")
    status, output = _run(str(file))
    assert (status, f"not read: {file}:2: sda 1.7T" in output) == (0, True)
    assert "name: mlx5_8" in output


@pytest.mark.parametrize("seed", range(3))
def test_damaged_outputs_never_end_in_a_traceback(seed: int, tmp_path: Path) -> None:
    """A damaged output makes a file that can be read, without a bridge among its rails."""
    b200 = PROFILES["dgx-b200"]
    xml, listed = ran(b200, "nvidia-smi -q -x"), ran(b200, "ls -l /sys/class/infiniband")
    texts = [printed("dgx-b200.topo"), printed("dgx-b200.ports"), printed("dgx-h100.node"), xml, listed]
    chance = random.Random(seed)  # noqa: S311 - no secret
    file = tmp_path / "ours.yaml"
    for raw in mutations("\n".join(chance.sample(texts, len(texts))), _DAMAGED, seed):
        given = readings(raw)
        compare(b200, gather(given))
        one = from_logs.found_in(given)
        assert not BRIDGES & {rail[0] for rail in rails(one)}
        file.write_text(machine_file.text(one, given, "from-logs"))
        assert read(file).get("to_complete", []) == machine_file.to_complete(one)
        if not one.missing and one.is_sound:
            read_machine(file)
