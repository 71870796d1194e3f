"""The devices that drivers prepared for a pod, as the kubelet records them in its annotation: pure functions."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from core.apis.devices import GPU_DRIVER
from toolkit.simulator import names, pods
from toolkit.simulator.actors.api import Object

_GPU = re.compile(r"^gpu-(\d+)$")
_INSTANCE = re.compile(r"^gpu-\d+-mig-")


@dataclass(frozen=True)
class PodDevice:
    """One device of a pod: of which claim and request, and what the container runtime is told to add (CDI)."""

    claim: str
    claim_uid: str
    request: str
    driver: str
    pool: str
    device: str
    cdi: tuple[str, ...] = ()
    domain: str = ""
    """UID of the ComputeDomain whose channel or daemon it is; empty for any other device."""
    admin: bool = False
    """Whether it is another pod's, too: the claim has adminAccess."""


def written(devices: Iterable[PodDevice]) -> str:
    """Return the annotation of these devices."""
    return json.dumps([{key: value for key, value in asdict(device).items() if value} for device in devices])


def devices(pod: Object) -> tuple[PodDevice, ...]:
    """Return the devices of a pod that were prepared; none before that, and for a pod without claims."""
    entries = json.loads(pods.annotations(pod).get(names.DEVICES, "[]"))
    return tuple(PodDevice(**{**entry, "cdi": tuple(entry.get("cdi", ()))}) for entry in entries)


def gpus(pod: Object, *, admin: bool = True) -> tuple[int, ...]:
    """Return the whole GPUs of a pod's claims, by their number on the node; `admin`: also those that others have."""
    return tuple(sorted({int(match[1]) for match in _matches(devices(pod), admin=admin)}))


def has_instance(pod: Object) -> bool:
    """Return whether a pod's claims have an instance of MIG, of which CUDA sees one."""
    return any(device.driver == GPU_DRIVER and _INSTANCE.match(device.device) for device in devices(pod))


def _matches(given: Sequence[PodDevice], *, admin: bool) -> Iterable[re.Match[str]]:
    found = (
        _GPU.match(device.device) for device in given if device.driver == GPU_DRIVER and (admin or not device.admin)
    )
    return (match for match in found if match)
