"""Pulling images on a node: from a registry that it reaches, at once or after the seconds that it says. Pure functions.

The contents of registries are not read: a pull fails only where the node's annotation says that it does not reach one.
"""

import json
from dataclasses import dataclass

from core.apis import quantity
from toolkit.simulator import names, pods
from toolkit.simulator.actors.api import Object

DEFAULT_REGISTRY = "docker.io"
BACK_OFF, FAILED = "ImagePullBackOff", "ErrImagePull"


@dataclass(frozen=True)
class Pull:
    """One image that is not on the node yet: how long its pull takes, in seconds, or why it fails."""

    image: str
    seconds: float = 0.0
    error: str = ""


def registry(image: str) -> str:
    """Return the registry of an image, as a container runtime reads its name."""
    host, slash, _ = image.partition("/")
    return host if slash and ("." in host or ":" in host or host == "localhost") else DEFAULT_REGISTRY


def images(pod: Object) -> list[str]:
    """Return the images of a pod's containers."""
    spec = pod["spec"]
    return [str(container.get("image", "")) for container in (*(spec.get("initContainers") or []), *spec["containers"])]


def pull(pod: Object, node: Object | None) -> Pull | None:
    """Return the pull that a pod waits for, or that fails; None where a node has no trouble with its images."""
    marks = pods.annotations(node) if node else {}
    away = json.loads(marks.get(names.REGISTRIES_DOWN) or "[]")
    for image in images(pod):
        host = registry(image)
        if host in away:
            return Pull(image, error=_error(image, host))
    seconds = quantity.amount(marks.get(names.PULL_SECONDS)) or 0
    return Pull(images(pod)[0], seconds=float(seconds)) if seconds else None


def _error(image: str, host: str) -> str:
    return (
        f'Failed to pull image "{image}": initializing source docker://{image}: pinging container registry {host}: '
        f'Get "https://{host}/v2/": dial tcp: lookup {host}: no such host'
    )


def waiting(pod: Object, failed: Pull, *, again: bool) -> Object:
    """Return the status of a pod whose image is not there: refused just now, or waiting before the next try."""
    message = f'Back-off pulling image "{failed.image}": {FAILED}: {failed.error}' if again else failed.error
    return _waiting(pod, {"reason": BACK_OFF if again else FAILED, "message": message}, failed.image)


def pulled(pod: Object) -> Object:
    """Return the status of a pod whose images are there after all: its containers are being created."""
    return _waiting(pod, {"reason": "ContainerCreating"}, None)


def _waiting(pod: Object, why: Object, image: str | None) -> Object:
    """Return the status of a pod whose containers wait: those of an image, or all."""
    return {
        key: [
            {**entry, "state": {"waiting": why}} if image in (None, entry.get("image")) else entry
            for entry in pod["status"][key]
        ]
        for key in ("initContainerStatuses", "containerStatuses")
        if pod["status"].get(key)
    }


def reason(pod: Object) -> str:
    """Return why a container of a pod waits, as its status has it: the first that is about an image."""
    status = pod.get("status") or {}
    for entry in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        why = str(((entry.get("state") or {}).get("waiting") or {}).get("reason") or "")
        if why in (BACK_OFF, FAILED):
            return why
    return ""
