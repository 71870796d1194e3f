"""What is known of a machine by some of its outputs."""

import pytest

from tests.support.messages import has
from tests.support.node_outputs import machine_of, printed

H100 = printed("dgx-h100.node")
TOPO = printed("dgx-h100.topo")


def test_an_unknown_gpu_has_its_own_fields() -> None:
    """A GPU that no architecture lists is written with its fields, if its architecture is known."""
    one = machine_of(H100.replace("NVIDIA H100 80GB HBM3", "NVIDIA H1"))
    assert one.fields["gpu"] == {
        "model": "NVIDIA H1",
        "architecture": "hopper",
        "memory_gb": 79,
        "memory_mib": 81559,
    }
    other = machine_of(H100.replace("NVIDIA H100 80GB HBM3", "NVIDIA X1").replace("Hopper", "Future"))
    assert "has no NVIDIA X1" in other.missing["gpu"]


def test_nvlink_follows_from_the_links_and_the_gpu() -> None:
    """Generation and bandwidth are those of the GPUs' architecture, also of links that no known machine has."""
    one = machine_of(H100, TOPO)
    assert {name: one.fields["nvlink"][name] for name in ("generation", "gbs", "shape")} == {
        "generation": 4,
        "gbs": 900,
        "shape": "switched",
    }
    fewer = machine_of(H100, TOPO.replace("NV18", "NV12")).fields["nvlink"]
    assert (fewer["gbs"], fewer["shape"], fewer["links"][0]) == (600, "switched", [0, *[12] * 7])
    unknown = machine_of(TOPO)
    assert unknown.fields["nvlink"].keys() == {"shape", "links"}
    assert "GPUs' model" in unknown.missing["nvlink: generation, gbs"]


def test_four_numa_nodes() -> None:
    """With SNC, GPUs belong to the nodes that the matrix names, and a node may have none (vllm 20862)."""
    lscpu = (
        "Architecture: x86_64\nCPU(s): 8\nThread(s) per core: 1\nCore(s) per socket: 4\nSocket(s): 2\nNUMA node(s): 4\n"
    )
    nodes = "".join(f"NUMA node{node} CPU(s): {2 * node}-{2 * node + 1}\n" for node in range(4))
    topo = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV18\t0-1\t0\nGPU1\tNV18\t X \t4-5\t2\n"
    one = machine_of(lscpu + nodes, topo)
    assert [(node["id"], node["gpus"]) for node in one.fields["numa"]] == [(0, [0]), (1, []), (2, [1]), (3, [])]
    assert one.fields["cpu_cores"] == 8
    assert has(one.missing["hcas"], "nvidia-smi topo -m", "network devices")


@pytest.mark.parametrize(
    ("old", "new", "field", "why"),
    [
        (
            "Thread(s) per core:                 2",
            "Thread(s) per core:                 1",
            "cpu_cores",
            "224 CPUs are not",
        ),
        ("NUMA node1 CPU(s):                  56-111,168-223\n", "", "numa", "all nodes"),
        ("MemTotal:       2113404416 kB\n", "", "memory_gib", "/proc/meminfo"),
    ],
)
def test_what_does_not_fit_is_missing(old: str, new: str, field: str, why: str) -> None:
    """A figure that does not fit the others is left open, with the reason."""
    assert old in H100
    text = H100.partition("$ numactl")[0] + H100[H100.index("$ cat /proc/meminfo") :]
    one = machine_of(text.replace(old, new), TOPO)
    assert field not in one.fields
    assert why in one.missing[field]


def test_the_rate_of_a_port_without_a_link() -> None:
    """A port without a link gets the rate of the others with the same chip, and the file notes it."""
    ibstat = printed("dgx-b200.ports").replace(
        "State: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 400\n\t\tBase lid: 5",
        "State: Down\n\t\tPhysical state: Polling\n\t\tRate: 10\n\t\tBase lid: 5",
    )
    one = machine_of(printed("dgx-b200.topo"), ibstat)
    assert {hca["rate_gbps"] for hca in one.fields["hcas"]} == {400}
    assert any(text.startswith("no link: mlx5_4;") for text in one.remarks)


def test_an_incomplete_output_is_named() -> None:
    """What a cut output lacks is in the file, and paths that it does not give leave the rails open."""
    one = machine_of(TOPO.replace("GPU2\tNV18", "GPU2\tNV1x").replace("NIC4\tNODE", "NIC4\tNOxE"))
    assert "does not give the path" in one.missing["hcas"]
    assert any("no row GPU2, NIC4" in text for text in one.remarks)


def test_columns_without_a_name() -> None:
    """Without the legend of its columns a matrix names no device: the numbers of NICs are not those of devices."""
    one = machine_of(TOPO.partition("NIC Legend")[0])
    assert has(one.missing["hcas"], "no name", "NIC0, NIC1")
