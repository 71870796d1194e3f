"""What NVIDIA's driver for dynamic resource allocation publishes of a node."""

from typing import Any

import pytest

from core.hardware.gpus import ARCHITECTURES, Gpu
from core.hardware.profiles import PROFILES
from toolkit.simulator.actors.mig_placement import placements
from toolkit.simulator.actors.resource_slices import GpuNode, domain_devices, gpu_devices, resource_slice, version
from toolkit.simulator.performance.smi_reports import uuid

H200, H100, V100 = PROFILES["dgx-h200"], PROFILES["dgx-h100"], PROFILES["dgx1-v100-16gb"]
DRIVER = "580.105.08"


def test_whole_gpus_of_a_machine() -> None:
    """Each GPU has its name by its minor number, the UUID that nvidia-smi shows, and the facts of its machine."""
    devices = gpu_devices(GpuNode("gpu01", H200, DRIVER))
    assert [device["name"] for device in devices] == [f"gpu-{gpu}" for gpu in range(8)]
    assert devices[4] == {
        "name": "gpu-4",
        "attributes": {
            "type": {"string": "gpu"},
            "uuid": {"string": uuid("gpu01", 4)},
            "productName": {"string": "NVIDIA H200"},
            "brand": {"string": "Nvidia"},
            "architecture": {"string": "Hopper"},
            "cudaComputeCapability": {"version": "9.0.0"},
            "driverVersion": {"version": "580.105.8"},
            "cudaDriverVersion": {"version": "13.0.0"},
            "resource.kubernetes.io/numaNode": {"int": 1},
        },
        "capacity": {"memory": {"value": "143771Mi"}},
    }


def test_pci_addresses_are_those_of_the_machines_file() -> None:
    """A machine whose buses are known has them as the kernel writes addresses; its brand is NVML's."""
    first = gpu_devices(GpuNode("dgx01", V100))[0]["attributes"]
    assert first["resource.kubernetes.io/pciBusID"] == {"string": f"0000:{V100.gpu_buses[0]:02x}:00.0"}
    assert first["brand"] == {"string": "Tesla"}
    assert "driverVersion" not in first


def test_instances_of_mig() -> None:
    """A divided GPU is not there as a whole: its instances are, by profile, number of the profile and placement."""
    devices = gpu_devices(GpuNode("gpu01", H100, DRIVER, H100.gpu.mig["all-balanced"]))
    assert [device["name"] for device in devices[:4]] == [
        "gpu-0-mig-2g20gb-14-0",
        "gpu-0-mig-1g10gb-19-2",
        "gpu-0-mig-1g10gb-19-3",
        "gpu-0-mig-3g40gb-9-4",
    ]
    largest = devices[3]
    assert largest["attributes"]["profile"] == {"string": "3g.40gb"}
    assert largest["attributes"]["parentUUID"] == {"string": uuid("gpu01", 0)}
    assert largest["attributes"]["uuid"]["string"].startswith("MIG-")
    assert {*largest["capacity"]} == {"memory", *(f"memorySlice{number}" for number in (4, 5, 6, 7))}
    uuids = [device["attributes"]["uuid"]["string"] for device in devices]
    assert len({*uuids}) == len(devices) == 32


DIVISIBLE = [
    pytest.param(gpu, sizes, id=f"{gpu.model} {name}")
    for architecture in ARCHITECTURES.values()
    for gpu in architecture.gpus.values()
    for name, sizes in gpu.mig.items()
]


@pytest.mark.parametrize(("gpu", "sizes"), DIVISIBLE)
def test_every_configuration_has_its_places(gpu: Gpu, sizes: dict[str, int]) -> None:
    """Instances of each configuration that the operator lists lie side by side."""
    placed = placements(gpu, sizes)
    slices = [number for placement in placed for number in placement.memory_slices]
    assert len(placed) == sum(sizes.values())
    assert len(slices) == len({*slices})
    assert max(slices) < placed[0].of


def test_a_configuration_that_does_not_fit() -> None:
    """Two instances of half the memory leave none for a third."""
    with pytest.raises(ValueError, match=r"3g\.71gb .* has no place on a NVIDIA H200"):
        placements(H200.gpu, {"3g.71gb": 3})


@pytest.mark.parametrize(("text", "semantic"), [("580.105.08", "580.105.8"), ("13.0", "13.0.0"), ("9.0", "9.0.0")])
def test_versions(text: str, semantic: str) -> None:
    """The API takes semantic versions alone, as the driver makes them."""
    assert version(text) == semantic


def test_a_slice_belongs_to_its_node() -> None:
    """One slice is the whole pool of a node, and is removed with the node."""
    node: dict[str, Any] = {"metadata": {"name": "gpu01", "uid": "1"}}
    made = resource_slice(node, "compute-domain.nvidia.com", domain_devices(), generation=3)
    assert made["metadata"]["generateName"] == "gpu01-compute-domain.nvidia.com-"
    assert made["metadata"]["ownerReferences"][0]["uid"] == "1"
    assert made["spec"]["pool"] == {"name": "gpu01", "generation": 3, "resourceSliceCount": 1}
    assert [device["name"] for device in made["spec"]["devices"]] == ["channel-0", "daemon-0"]
