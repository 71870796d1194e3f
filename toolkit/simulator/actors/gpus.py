"""Whether a driver's pod makes the GPUs of its machine usable: pure functions."""

import re
from collections.abc import Iterable

from core.apis.names import SIMULATED
from core.hardware.gpus import ARCHITECTURES
from core.hardware.profiles import Profile
from toolkit.simulator import names, pods
from toolkit.simulator.actors import images
from toolkit.simulator.actors.api import Object

MODULE_TYPE = "KERNEL_MODULE_TYPE"
"""Variable with which the GPU operator selects the kernel module that the driver's container builds."""
NOT_LOADED = "modprobe: ERROR: could not insert 'nvidia': No such device"
"""How the driver's container ends where its module finds no GPU that it knows."""

_VERSION = re.compile(r":v?(?P<version>[0-9]{3}[0-9.]*)")


def driver_version(pod: Object) -> str | None:
    """Return the version of a driver's pod, by its image's tag; None for a digest or another tag."""
    match = _VERSION.search(pods.image(pod).partition("@")[0])
    return match["version"].rstrip(".") if match else None


def driver_fault(profile: Profile | None, pod: Object) -> str | None:
    """Return why the driver of a pod does not load on a machine, as its container says it; None when it does.

    The causes are a branch that no longer knows the GPU, and the open module.
    """
    if profile is None:
        return f"NVRM: No NVIDIA GPU found; {NOT_LOADED}"
    architecture, model = ARCHITECTURES[profile.gpu.architecture], profile.gpu.model
    version = driver_version(pod)
    if version and not architecture.accepts_driver(version):
        if architecture.last_driver_branch is None:
            return (
                f"{NOT_LOADED} ({SIMULATED}: {model} needs a driver of branch {architecture.branches()}, not {version})"
            )
        return (
            f"NVRM: The {model} GPU installed in this system is supported through the NVIDIA"
            f" {architecture.last_driver_branch}.xx Legacy drivers. The {version} NVIDIA driver will ignore this GPU;"
            f" {NOT_LOADED}"
        )
    if architecture.kernel_module == "proprietary" and pods.variable(pod, MODULE_TYPE) == "open":
        return (
            f"NVRM: The {model} GPU installed in this system is not supported by open nvidia.ko because it does not"
            f" include the required GPU System Processor (GSP); {NOT_LOADED}"
        )
    if architecture.kernel_module == "open" and pods.variable(pod, MODULE_TYPE) == "proprietary":
        return f"{NOT_LOADED} ({SIMULATED}: {model} needs the open kernel module)"
    return None


def has_driver(node: Object | None, running: Iterable[Object]) -> bool:
    """Return whether a node with these running pods has a driver: its own, or in a container."""
    own = node is not None and pods.annotations(node).get(names.HOST_DRIVER) == "true"
    return own or any(images.GPU_DRIVERS & {pods.basename(pods.image(pod))} for pod in running)


def is_plugin(pod: Object) -> bool:
    """Return whether a pod is the device plugin; its image contains other programs as well."""
    others = (images.FEATURE_DISCOVERY, images.SHARING_DAEMON)
    command = pods.command(pod)
    return pods.basename(pods.image(pod)) in images.GPU_PLUGINS and not any(other in command for other in others)
