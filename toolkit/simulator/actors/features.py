"""What Node Feature Discovery and GPU feature discovery find on a machine: pure functions."""

from collections.abc import Iterable

import yaml

from core.hardware.gpus import ARCHITECTURES, Gpu
from core.hardware.profiles import MELLANOX_PCI_VENDOR, NVIDIA_PCI_VENDOR, Profile
from core.yaml import text as yaml_text
from toolkit.simulator.actors import mig
from toolkit.simulator.actors.api import Object

PREFIX = "feature.node.kubernetes.io/"
GPU_PREFIX = "nvidia.com/"

DISPLAY = "0302"
"""Class of PCI device of a GPU: a 3D controller."""
ADAPTERS = {"InfiniBand": "0207", "Ethernet": "0200"}
"""Classes of an adapter's port, by what it speaks."""
DEFAULT_CLASSES = ("03", "0b40", "12")
DEFAULT_FIELDS = ("class", "vendor")
"""What upstream's worker does where its configuration says nothing."""


def pci_devices(profile: Profile | None) -> set[tuple[str, str]]:
    """Return class and vendor of the PCI devices that a profile knows of: GPUs and ports of adapters."""
    if profile is None:
        return set()
    devices = {(DISPLAY, NVIDIA_PCI_VENDOR)} if profile.gpus else set()
    if MELLANOX_PCI_VENDOR in profile.pci_vendors:
        others = (port.named_link_layer for port in (*profile.storage_hcas, *profile.inband_hcas))
        spoken = {profile.link_layer, *(layer for layer in others if layer)}
        devices |= {(ADAPTERS[layer], MELLANOX_PCI_VENDOR) for layer in spoken}
    return devices


def kernel_labels(node: Object) -> dict[str, str]:
    """Return the labels of a node's kernel."""
    version = ((node.get("status") or {}).get("nodeInfo") or {}).get("kernelVersion", "")
    return {PREFIX + "kernel-version.full": version} if version else {}


def pci_labels(profile: Profile | None, configuration: str) -> dict[str, str]:
    """Return the labels that a worker with this configuration (YAML) finds.

    Raise ValueError where it cannot be read. Fields beside class and vendor need what no profile has: such labels are
    left out.
    """
    try:
        whole = yaml_text.read(configuration) or {}
        pci = ((whole.get("sources") or {}).get("pci")) or {}
        classes = [str(device_class) for device_class in pci.get("deviceClassWhitelist", DEFAULT_CLASSES)]
        fields = list(pci.get("deviceLabelFields", DEFAULT_FIELDS))
    except (yaml.YAMLError, AttributeError, TypeError) as error:
        raise ValueError(f"failed to parse config: {error}") from None
    if not fields or not {"class", "vendor"} >= set(fields):
        return {}
    return {
        f"{PREFIX}pci-{'_'.join(part for part in _parts(device, fields))}.present": "true"
        for device in pci_devices(profile)
        if any(device[0].startswith(prefix) for prefix in classes)
    }


def _parts(device: tuple[str, str], fields: Iterable[str]) -> list[str]:
    # The order is the worker's own, whatever that of the configuration is.
    return [part for name, part in zip(("class", "vendor"), device, strict=True) if name in fields]


def product(gpu: Gpu) -> str:
    """Return a GPU's name as today's driver gives it, with hyphens for blanks."""
    brand = ARCHITECTURES[gpu.architecture].brand
    name = gpu.model.replace(" ", "-")
    return name if name.startswith(f"{brand}-") else f"{brand}-{name}"


def gpu_labels(profile: Profile | None, strategy: str, layout: mig.Layout | None) -> dict[str, str]:
    """Return the labels of GPU feature discovery; `layout` is how the GPUs are divided, None when they are not."""
    if profile is None or not profile.gpus:
        return {}
    gpu, name, count = profile.gpu, product(profile.gpu), profile.gpus
    major, minor = (gpu.compute_capability or ARCHITECTURES[gpu.architecture].compute_capability).split(".")
    memory = gpu.memory_mib or gpu.memory_gb * 1024
    labels = {
        "gpu.family": gpu.architecture,
        "gpu.compute.major": major,
        "gpu.compute.minor": minor,
        "gpu.product": name,
        "gpu.count": str(count),
        "gpu.memory": str(memory),
        "mig.capable": str(bool(gpu.mig_instances)).lower(),
    }
    if gpu.mig_instances:
        labels["mig.strategy"] = strategy
    if layout and strategy == "single" and len(layout) == 1:
        ((size, slices),) = layout.items()
        labels |= {"gpu.product": f"{name}-MIG-{size}", "gpu.count": str(slices * count)}
        del labels["gpu.memory"]  # of a slice; the documents give the whole GPU's only
    if layout and strategy == "mixed":
        for size, slices in layout.items():
            labels |= {f"mig-{size}.count": str(slices * count), f"mig-{size}.product": f"{name}-MIG-{size}"}
    return {GPU_PREFIX + key: value for key, value in labels.items()}
