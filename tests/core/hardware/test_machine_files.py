"""Files of machines: those of the project, those that sites complete, and wrong ones."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from core.data_files import ROOT, DataFileError, read
from core.hardware import topology
from core.hardware.profiles import PROFILES, Profile, from_json, missing, on_ethernet, profile, read_machine, to_json
from core.hardware.profiles.catalogue import FOLDER, INCOMPLETE

EVERY = pytest.mark.parametrize("machine", PROFILES.values(), ids=PROFILES)
SITE = {
    "base": "hgx-h100",
    "cpu_cores": 104,
    "memory_gib": 2048,
    "numa": [
        {"id": 0, "cpus": "0-51,104-155", "gpus": [0, 1, 2, 3]},
        {"id": 1, "cpus": "52-103,156-207", "gpus": [4, 5, 6, 7]},
    ],
    "link_layer": "Ethernet",
    "ports": {"count": 1, "rate_gbps": 400, "adapter": "ConnectX-7"},
    "hcas": [{"name": "mlx5_0", "netdev": "ens1np0", "numa": 0, "gpus": [0], "rate_gbps": 400}],
    "source": "measured here",
}


def written(folder: Path, content: object, name: str = "our-hgx") -> Path:
    """Write a machine file."""
    path = folder / f"{name}.yaml"
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return path


@EVERY
def test_rails_are_near_to_all_gpus_or_to_none(machine: Profile) -> None:
    """Where ports are next to GPUs, every GPU has a port, and no two ports have one name or address."""
    near = [len(topology.nearest_hcas(machine, gpu)) for gpu in range(machine.gpus)]
    assert len(set(near)) == 1
    ports = (*machine.hcas, *machine.storage_hcas, *machine.inband_hcas)
    for values in ([hca.netdev for hca in ports], [hca.pci for hca in ports], [hca.ethernet for hca in ports]):
        known = [value for value in values if value]
        assert len(known) == len(set(known))
    assert {hca.name for hca in machine.hcas}.isdisjoint(device.name for device in machine.other_devices)


@EVERY
def test_a_machine_is_the_same_after_it_was_written(machine: Profile) -> None:
    """The simulated cluster gets all of a machine, MIG configurations too."""
    again = from_json(to_json(machine))
    assert (again, again.gpu.mig) == (machine, machine.gpu.mig)


def test_dgx_h200_has_the_ports_of_the_guide() -> None:
    """The DGX H200 has the ports of the DGX H100, in InfiniBand and in Ethernet mode."""
    machine = profile("dgx-h200")
    assert topology.nccl_ib_hca(machine.hcas) == "=mlx5_0,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_9,mlx5_10,mlx5_11"
    assert topology.gpudirect_level(machine) == "PXB"
    assert [hca.netdev for hca in machine.hcas][:2] == ["ibp24s0", "ibp64s0"]
    assert [hca.netdev for hca in on_ethernet(machine).hcas][:2] == ["enp24s0np0", "enp64s0np0"]
    assert [hca.pci for hca in machine.hcas][-1] == "0000:dc:00.0"
    assert machine.sources["hcas"] != profile("dgx-h100").sources["hcas"]


def test_bridges_of_nvswitches_are_no_hcas() -> None:
    """The bridges of a DGX B200 are known, and are not ports."""
    machine = profile("dgx-b200")
    assert [device.name for device in machine.other_devices] == [f"mlx5_{number}" for number in range(4)]
    assert "mlx5_0" not in topology.nccl_ib_hca(machine.hcas)


def test_names_without_an_ethernet_mode_stay() -> None:
    """A machine whose ports have no known names in Ethernet mode stays as it is."""
    assert on_ethernet(profile("dgx-a100")) == profile("dgx-a100")


@pytest.mark.parametrize("name", sorted(path.stem for path in INCOMPLETE.glob("*.yaml")))
def test_a_machine_that_sites_complete_names_what_it_lacks(name: str) -> None:
    """An incomplete machine is not a profile; the message names its fields and the remedy."""
    (first, *_) = missing(name)
    with pytest.raises(ValueError, match=rf"{name}' is incomplete: {first}.*`base: {name}`.*`machines`"):
        profile(name)


def test_a_site_completes_a_machine(tmp_path: Path) -> None:
    """A file with a base has what the base gives, and its own name."""
    machine = read_machine(written(tmp_path, SITE))
    assert (machine.name, machine.cpus, machine.gpu.model) == ("our-hgx", 208, "NVIDIA H100 80GB HBM3")


def test_a_port_is_next_to_the_gpus_at_its_shortest_path(tmp_path: Path) -> None:
    """A port at PIX of one GPU and at PXB of another is next to the first, and the matrix gives both."""
    port = {"name": "mlx5_0", "netdev": "ens1np0", "numa": 0, "gpus": [0], "rate_gbps": 400}
    paths = ["PIX", "PXB", "NODE", "NODE", *["SYS"] * 4]
    (read_back,) = read_machine(written(tmp_path, SITE | {"hcas": [{**port, "distances": paths}]})).hcas
    assert (read_back.gpus, read_back.distance, list(read_back.distances)) == ((0,), "PIX", paths)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (SITE | {"memory_gib": 0}, "memory_gib: is not above 0 .*value: 0"),
        (SITE | {"colour": "blue"}, "colour: .*remove it"),
        (SITE | {"cpu_cores": 100}, "numa: give each of the CPUs 0-199"),
        (SITE | {"gpu": "hopper/h900"}, "gpu: hopper has no GPU 'h900'; known: h100-80gb-hbm3"),
        (
            SITE | {"gpu": {"model": "R100", "architecture": "rubin", "memory_gb": 288, "source": "x"}},
            "gpu.architecture: 'rubin' is not known; .*blackwell",
        ),
        (SITE | {"gpu": "rubin/r100"}, "gpu: 'rubin/r100' is of no known architecture; .*blackwell"),
        (SITE | {"gpu_buses": [1]}, "gpu_buses: give one of each of the 8 GPUs, not 1"),
        (SITE | {"sources": {"gpus": "x", "colour": "y"}}, "sources: colour is not a field"),
        (SITE | {"nvlink": {"generation": 4, "gbs": 900, "shape": "switched", "links": [[0]]}}, "links: give 8 rows"),
        (SITE | {"hcas": [SITE["hcas"][0] | {"distances": ["SYS"] * 8}]}, r"mlx5_0: distances: gpus \[0\] at PIX"),  # type: ignore[index]
        (SITE | {"hcas": [SITE["hcas"][0] | {"distances": ["PIX"]}]}, "mlx5_0: distances: give one for each"),  # type: ignore[index]
        ({name: SITE[name] for name in SITE if name != "numa"}, "numa: missing.*add it$"),
        (
            {name if name != "numa" else "numma": field for name, field in SITE.items()},
            "numa: missing.*; numma: no field of a machine; correct its name",
        ),
        ({name: SITE[name] for name in SITE if name != "source"}, "source: missing"),
        (SITE | {"base": "hgx-h900"}, "base: .*'hgx-h900'.*known: dgx-a100"),
        (SITE | {"name": "another"}, "name: .*'another'.*remove it"),
        ("gpus: 8\ngpus: 4\n", "2:1: gpus is given twice; remove one$"),
        ("gpus: [", "1:8: the text ends within brackets; close them"),
        ("source: 2027-13-31", "1:9: .*month must be in 1..12.*correct it, or quote it"),
        (
            SITE | {"hcas": [SITE["hcas"][0] | {"pci": "00000000:9B:00.0"}]},  # type: ignore[index]
            r"hcas\[0\].pci: is not a PCI address .*9B.*; write e.g. 0000:18:00.0",
        ),
        (SITE | {"pci_vendors": "10de"}, "pci_vendors: is not a list .*'10de'.*write a list"),
        ("- gpus", "holds no fields"),
    ],
)
def test_wrong_files_name_file_field_value_and_remedy(tmp_path: Path, content: object, message: str) -> None:
    """A wrong file is refused, with all that a user needs to correct it."""
    with pytest.raises(DataFileError, match=f"(?s)our-hgx.yaml:.*{message}"):
        read_machine(written(tmp_path, content))


@pytest.mark.parametrize("name", PROFILES)
def test_machine_files_fit_their_schema(name: str) -> None:
    """Editors find nothing wrong in a good file, and a wrong field in another."""
    schema = jsonschema.Draft202012Validator(json.loads((ROOT / "docs" / "schemas" / "machine.json").read_text()))
    content = read(FOLDER / f"{name}.yaml")
    assert [error.message for error in schema.iter_errors(content)] == []
    assert not schema.is_valid(content | {"colour": "blue"})
