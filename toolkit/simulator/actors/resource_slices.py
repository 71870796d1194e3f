"""What NVIDIA's driver for dynamic resource allocation publishes of a node, as its version 0.5.0 does: pure functions.

Simulated choices, where no source has a figure: an instance of MIG has the memory of its slices, and no capacity but
memory; a GPU has no PCIe root, and a PCI address and a NUMA node where the machine's file gives them. Feature gates of
the driver that are off by default are not simulated. Source: dra-driver-nvidia-gpu v0.5.0, cmd/gpu-kubelet-plugin and
cmd/compute-domain-kubelet-plugin.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from core.apis import kinds
from core.hardware.profiles import Profile
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.mig_placement import Placement, placements
from toolkit.simulator.manifests import manifest, owner_reference
from toolkit.simulator.performance.nvidia_smi import NOT_KNOWN, cuda, memory_mib
from toolkit.simulator.performance.smi_reports import uuid

_STANDARD = "resource.kubernetes.io/"
_MIB = 1 << 20
_BRANDS = {"NVIDIA": "Nvidia"}
"""Brand of a GPU's name -> what NVML calls it, where that is another word."""


@dataclass(frozen=True)
class GpuNode:
    """A node of whose GPUs the driver publishes: its machine, the version of its driver, how its GPUs are divided."""

    name: str
    profile: Profile
    driver: str | None = None
    """None: not known from the image of a pod, so that no version is published."""
    mig: Mapping[str, int] | None = None
    """Size of an instance -> instances of that size on each GPU; None: the GPUs are whole."""


def gpu_devices(node: GpuNode) -> list[Object]:
    """Return the devices of a node's GPUs: whole ones, or the instances of MIG that they are divided into."""
    return [device for gpu in range(node.profile.gpus) for device in _of_gpu(node, gpu)]


def domain_devices() -> list[Object]:
    """Return the devices for ComputeDomains, the same on every node: one IMEX channel and one daemon."""
    return [
        {"name": f"{kind}-0", "attributes": {"type": {"string": kind}, "id": {"int": 0}}}
        for kind in ("channel", "daemon")
    ]


def resource_slice(node: Object, driver: str, devices: list[Object], generation: int = 1) -> Object:
    """Return the one slice of a driver's pool on a node; it goes with the node."""
    name = node["metadata"]["name"]
    spec = {
        "driver": driver,
        "nodeName": name,
        "pool": {"name": name, "generation": generation, "resourceSliceCount": 1},
        "devices": devices,
    }
    made = manifest(kinds.RESOURCE_SLICE, "", owners=[owner_reference({**_NODE, **node})], spec=spec)
    made["metadata"].pop("name")
    made["metadata"]["generateName"] = f"{name}-{driver}-"
    return made


_NODE = {"apiVersion": kinds.NODE.api_version, "kind": kinds.NODE.kind}
"""What items of a list leave out."""


def _of_gpu(node: GpuNode, gpu: int) -> Iterator[Object]:
    name, common = f"gpu-{gpu}", _common(node, gpu)
    own = uuid(node.name, gpu)
    if not node.mig:
        attributes = {"type": {"string": "gpu"}, "uuid": {"string": own}, **common}
        yield {"name": name, "attributes": attributes, "capacity": _capacity(memory_mib(node.profile))}
        return
    for number, placement in enumerate(placements(node.profile.gpu, node.mig)):
        attributes = {
            "type": {"string": "mig"},
            "uuid": {"string": f"MIG{uuid(f'{node.name}/{name}', number).removeprefix('GPU')}"},
            "parentUUID": {"string": own},
            "profile": {"string": placement.profile},
            **common,
        }
        yield {
            "name": f"{name}-mig-{placement.profile.replace('.', '')}-{placement.profile_id}-{placement.start}",
            "attributes": attributes,
            "capacity": _instance_capacity(node.profile, placement),
        }


def _common(node: GpuNode, gpu: int) -> Object:
    """Return the attributes that a GPU and its instances have in common."""
    profile, architecture = node.profile, node.profile.architecture
    attributes: Object = {
        "productName": {"string": profile.gpu.model},
        "brand": {"string": _BRANDS.get(architecture.brand, architecture.brand)},
        "architecture": {"string": architecture.name.capitalize()},
        "cudaComputeCapability": {
            "version": version(profile.gpu.compute_capability or architecture.compute_capability)
        },
    }
    if node.driver:
        attributes["driverVersion"] = {"version": version(node.driver)}
        # A driver of which no table here says what CUDA it runs has no such attribute.
        if (runs := cuda(node.driver)) != NOT_KNOWN:
            attributes["cudaDriverVersion"] = {"version": version(runs)}
    if profile.gpu_buses:
        attributes[f"{_STANDARD}pciBusID"] = {"string": f"0000:{profile.gpu_buses[gpu]:02x}:00.0"}
    numa = next((area.id for area in profile.numa if gpu in area.gpus), None)
    if numa is not None:
        attributes[f"{_STANDARD}numaNode"] = {"int": numa}
    if profile.gpu_memory_nodes:
        # The processor's and the GPUs' memory are one address space.
        attributes["addressingMode"] = {"string": "ATS"}
    return attributes


def version(text: str) -> str:
    """Return a version of two or three numbers as a semantic one: 580.105.08 is 580.105.8, and 9.0 is 9.0.0."""
    numbers = [int(part) for part in text.split(".")]
    return ".".join(map(str, [*numbers, 0, 0][:3]))


def _capacity(mib: int) -> Object:
    """Return the capacity of so many MiB, in the form in which the API has it."""
    return {"memory": {"value": f"{mib // 1024}Gi" if mib % 1024 == 0 else f"{mib}Mi"}}


def _instance_capacity(profile: Profile, placement: Placement) -> Object:
    slices = {f"memorySlice{number}": {"value": "1"} for number in placement.memory_slices}
    return {**_capacity(memory_mib(profile) * placement.size // placement.of), **slices}
