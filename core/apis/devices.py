"""Dynamic resource allocation (DRA): NVIDIA's drivers and DeviceClasses, and how quotas count their devices.

Sources: kubernetes-sigs/dra-driver-nvidia-gpu v0.5.0 (chart and API types), k8s.io/api resource/v1, kubernetes
v1.34.2 (pkg/quota/v1/evaluator/core/resource_claims.go).
"""

from collections.abc import Iterable, Mapping
from typing import Any

GPU_DRIVER = "gpu.nvidia.com"
"""Driver of GPUs; also the domain of their attributes, e.g. productName."""
COMPUTE_DOMAIN_DRIVER = "compute-domain.nvidia.com"
"""Driver of IMEX channels and daemons, by which GPUs of several nodes share memory over NVLink."""
GPU_CLASS, MIG_CLASS, VFIO_CLASS = "gpu.nvidia.com", "mig.nvidia.com", "vfio.gpu.nvidia.com"
"""DeviceClasses of whole GPUs, of MIG instances, and of GPUs for virtual machines."""
DAEMON_CLASS = "compute-domain-daemon.nvidia.com"
CHANNEL_CLASS = "compute-domain-default-channel.nvidia.com"
"""DeviceClass of the one IMEX channel that a pod of a ComputeDomain gets on each node."""
CHANNEL_RESOURCE = f"{COMPUTE_DOMAIN_DRIVER}/channel"
"""What Kueue counts claims of CHANNEL_CLASS as."""
QUOTA = ".deviceclass.resource.k8s.io/devices"
"""Ends the name of a DeviceClass: what a ResourceQuota calls the devices of it that claims request."""
GPUS, CHANNEL = "gpus", "channel"
"""What pods call their claims."""


def claim_template(gpus: int) -> str:
    """Return the name of the ResourceClaimTemplate of a tenant by which a pod gets so many whole GPUs."""
    return f"gpus-{gpus}"


def channel_template(job: str) -> str:
    """Return the name of the ResourceClaimTemplate that the ComputeDomain of a job makes for its pods."""
    return f"{job}-channel"


Attributes = Mapping[str, Any]
"""Attribute of a device without its domain, e.g. productName -> its value."""


def published(slices: Iterable[Mapping[str, Any]], driver: str = GPU_DRIVER) -> dict[str, list[Attributes]]:
    """Return the devices that a driver publishes in ResourceSlices, by node: of each pool the newest generation."""
    pools: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for item in slices:
        spec = item["spec"]
        if spec.get("driver") == driver and spec.get("nodeName"):
            pools.setdefault((spec["nodeName"], spec["pool"]["name"]), []).append(spec)
    by_node: dict[str, list[Attributes]] = {}
    for (node, _), specs in pools.items():
        newest = max(spec["pool"].get("generation", 0) for spec in specs)
        current = (spec for spec in specs if spec["pool"].get("generation", 0) == newest)
        by_node.setdefault(node, []).extend(
            {name.rpartition("/")[2]: next(iter(value.values()), None) for name, value in attributes.items()}
            for spec in current
            for device in spec.get("devices") or ()
            for attributes in [device.get("attributes") or {}]
        )
    return by_node


def whole_gpus(attributes: Iterable[Attributes]) -> int:
    """Return how many of a node's devices are whole GPUs."""
    return sum(device.get("type") == "gpu" for device in attributes)
