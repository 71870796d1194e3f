"""What the kubelet of a node calls of drivers for dynamic resource allocation, and NVIDIA's for GPUs.

Source of the messages: dra-driver-nvidia-gpu v0.5.0, driver.go and device_state.go of both plugins.
"""

from collections.abc import Collection
from typing import Protocol

from core.apis.devices import GPU_DRIVER
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.pod_devices import PodDevice


class PrepareError(Exception):
    """A claim that cannot be prepared, now or ever: the message of the driver, or of the kubelet."""


class ResourceDriver(Protocol):
    """A driver's plugin on one node."""

    def prepare(self, claim: Object) -> list[PodDevice]:
        """Return the devices of a claim; raise PrepareError where they cannot be used yet, or never."""

    def unprepare(self, device: PodDevice) -> None:
        """Undo what was done for a device; it may be done already."""


class GpuDriver:
    """Gives the whole GPUs and instances of MIG that it has published.

    Neither sharing nor any other configuration of a claim is simulated.
    """

    def __init__(self, published: Collection[str]) -> None:
        self._published = published

    def prepare(self, claim: Object) -> list[PodDevice]:
        """Return the devices of a claim; raise PrepareError for one that this start of the plugin did not find."""
        devices = allocated(claim, GPU_DRIVER)
        for device in devices:
            if device.device not in self._published:
                raise refused(claim, f'allocatable not found for device "{device.device}"')
        return devices

    def unprepare(self, _device: PodDevice) -> None:
        """Do nothing: an instance of MIG stays as it is."""


def results(claim: Object) -> list[Object]:
    """Return what the scheduler allocated to a claim."""
    allocation = (claim.get("status") or {}).get("allocation") or {}
    found: list[Object] = (allocation.get("devices") or {}).get("results") or []
    return found


def allocated(claim: Object, driver: str, domain: str = "") -> list[PodDevice]:
    """Return the devices of one driver that a claim has, with their names in CDI; `domain` is their ComputeDomain."""
    meta = claim["metadata"]
    return [
        PodDevice(
            claim=meta["name"],
            claim_uid=meta["uid"],
            request=result["request"],
            driver=driver,
            pool=result["pool"],
            device=result["device"],
            cdi=(f"k8s.{driver}/claim={meta['uid']}-{result['device']}",),
            domain=domain,
            admin=bool(result.get("adminAccess")),
        )
        for result in results(claim)
        if result["driver"] == driver
    ]


def refused(claim: Object, why: str) -> PrepareError:
    """Return the error of a claim whose devices cannot be prepared."""
    meta = claim["metadata"]
    name = f"{meta['namespace']}/{meta['name']}:{meta['uid']}"
    return PrepareError(f"error preparing devices for claim '{name}': prepare devices failed: {why}")
