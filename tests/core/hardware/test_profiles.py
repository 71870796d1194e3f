"""Hardware profiles, against the tables of the source documents."""

import pytest

from core.hardware.profiles import PROFILES, Hca, Profile, profile, with_hcas
from tests.support.machines import DGX2H, DGX_A100

LSCPU_OF_DGX_A100 = (
    "0-15,128-143",
    "16-31,144-159",
    "32-47,160-175",
    "48-63,176-191",
    "64-79,192-207",
    "80-95,208-223",
    "96-111,224-239",
    "112-127,240-255",
)
NUMA_OF_DGX_A100_GPUS = (3, 3, 1, 1, 7, 7, 5, 5)
SIZES = {
    # GPUs, logical CPUs, GiB, GPU memory GB, architecture, compute ports, Gb/s, storage ports
    "dgx1-v100-16gb": (8, 80, 512, 16, "volta", 4, 100, 0),
    "dgx1-v100-32gb": (8, 80, 512, 32, "volta", 4, 100, 0),
    "dgx2h": (16, 96, 1536, 32, "volta", 8, 100, 0),
    "dgx-a100": (8, 256, 1024, 40, "ampere", 8, 200, 2),
    "dgx-b200": (8, 224, 2048, 180, "blackwell", 8, 400, 2),
    "dgx-h100": (8, 224, 2048, 80, "hopper", 8, 400, 2),
    "dgx-h200": (8, 224, 2048, 141, "hopper", 8, 400, 2),
    "sys-4029gp-tvrt": (8, 80, 768, 32, "volta", 4, 25, 0),
}


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_sizes_are_those_of_the_documents(name: str) -> None:
    """Sizes are those of the documents."""
    known = profile(name)
    storage = known.storage_ports.count if known.storage_ports else 0
    assert SIZES[name] == (
        known.gpus,
        known.cpus,
        known.memory_gib,
        known.gpu.memory_gb,
        known.architecture.name,
        known.ports.count,
        known.ports.rate_gbps,
        storage,
    )


def test_dgx1_has_the_ports_of_the_redpaper() -> None:
    """The DGX-1 has the Redpaper's ports."""
    dgx1 = profile("dgx1-v100-16gb")
    assert [(hca.name, hca.netdev, hca.numa, hca.gpus) for hca in dgx1.hcas] == [
        ("mlx5_0", "ib0", 0, (0, 1)),
        ("mlx5_1", "ib1", 0, (2, 3)),
        ("mlx5_2", "ib2", 1, (4, 5)),
        ("mlx5_3", "ib3", 1, (6, 7)),
    ]
    assert [(node.cpus, node.gpus) for node in dgx1.numa] == [
        ("0-19,40-59", (0, 1, 2, 3)),
        ("20-39,60-79", (4, 5, 6, 7)),
    ]
    assert (dgx1.gpu.memory_mib, dgx1.gpu.watts) == (16160, 300)


@pytest.mark.parametrize(("name", "links"), [("dgx1-v100-16gb", 6), ("dgx-a100", 7 * 12)])
def test_the_matrix_of_nvlinks_is_symmetric(name: str, links: int) -> None:
    """The matrix of NVLinks is symmetric."""
    matrix = profile(name).nvlink.links
    assert [list(row) for row in zip(*matrix, strict=True)] == [list(row) for row in matrix]
    assert {sum(row) for row in matrix} == {links}
    assert all(matrix[gpu][gpu] == 0 for gpu in range(len(matrix)))


def test_dgx_a100_has_the_numa_map_of_the_slides() -> None:
    """The DGX A100 has the NUMA map of the slides."""
    assert tuple(node.cpus for node in DGX_A100.numa) == LSCPU_OF_DGX_A100
    node_of = {gpu: node.id for node in DGX_A100.numa for gpu in node.gpus}
    assert tuple(node_of[gpu] for gpu in range(8)) == NUMA_OF_DGX_A100_GPUS
    assert [node.id for node in DGX_A100.numa if not node.gpus] == [0, 2, 4, 6]


def test_dgx_a100_keeps_storage_off_the_compute_ports() -> None:
    """Storage ports are not compute ports."""
    assert [hca.name for hca in DGX_A100.hcas] == [f"mlx5_{number}" for number in (0, 1, 2, 3, 6, 7, 8, 9)]
    assert [hca.name for hca in DGX_A100.storage_hcas] == ["mlx5_4", "mlx5_5"]
    assert [int(hca.interface[3:-2]) for hca in DGX_A100.hcas] == [12, 18, 75, 84, 141, 148, 186, 204]
    assert all(hca.pci == f"0000:{int(hca.interface[3:-2]):02x}:00.0" for hca in DGX_A100.hcas)


def test_dgx_a100_fits_its_data_sheet() -> None:
    """Power, height and weight are those of the data sheet."""
    assert (DGX_A100.power_watts, DGX_A100.rack_units, DGX_A100.weight_kg) == (6500, 6, 123)
    assert (DGX_A100.nvlink.gbs, DGX_A100.nvlink.switches, DGX_A100.gpu.mig_instances) == (600, 6, 7)
    assert DGX_A100.gpus * DGX_A100.gpu.memory_gb == 320


def test_other_sizes_of_memory_are_data() -> None:
    """The DGX A100 has 1 TB of memory, and is sold with 2 TB."""
    assert (DGX_A100.memory_gib, DGX_A100.memory_options_gib) == (1024, (2048,))


def ports(count: int, rate_gbps: int = 100) -> tuple[Hca, ...]:
    """Return ports as a site may name them."""
    return tuple(
        Hca(name=f"mlx5_{port}", netdev=f"ib{port}", numa=0, gpus=(), distance=None, rate_gbps=rate_gbps)
        for port in range(count)
    )


def test_ports_without_names_can_be_named() -> None:
    """A site can name ports that no document names."""
    assert DGX2H.hcas == ()
    assert [hca.name for hca in with_hcas(DGX2H, ports(8)).hcas] == [f"mlx5_{port}" for port in range(8)]


@pytest.mark.parametrize(
    ("hcas", "fault"),
    [
        (ports(7), "hcas: name all 8 ports or none, not 7, or give the machine another ports.count"),
        (ports(8, rate_gbps=200), "hcas: every port has 100 Gb/s, not mlx5_0 200, .*; correct it"),
        (ports(1) * 8, "hcas.name: mlx5_0 is given twice; give each port its own"),
        (tuple(port.model_copy(update={"netdev": "ib0"}) for port in ports(8)), "hcas.netdev: ib0 is given twice"),
        (
            tuple(port.model_copy(update={"pci": "0000:05:00.0"}) for port in ports(8)),
            "hcas.pci: 0000:05:00.0 is given",
        ),
    ],
)
def test_names_that_contradict_the_machine_are_refused(hcas: tuple[Hca, ...], fault: str) -> None:
    """Ports that contradict the machine are refused."""
    with pytest.raises(ValueError, match=fault):
        with_hcas(DGX2H, hcas)


def test_a_numa_map_with_holes_is_refused() -> None:
    """A NUMA map that misses CPUs or GPUs is refused."""
    wrong = {
        **dict(DGX_A100),
        "numa": (DGX_A100.numa[0], *DGX_A100.numa[2:]),
    }
    with pytest.raises(ValueError, match=r"give each of the CPUs 0-255 to one node.*each of the GPUs.*hca mlx5_2"):
        Profile.model_validate(wrong)


def test_unknown_profile_names_the_known_ones() -> None:
    """An unknown machine is refused with the known ones."""
    known = ", ".join(sorted(PROFILES))
    with pytest.raises(ValueError, match=f"unknown machine 'dgx9'; known: {known}; .*`machines`"):
        profile("dgx9")
