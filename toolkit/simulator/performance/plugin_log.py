"""The log of NVIDIA's device plugin, in the form of its version."""

import re
from datetime import datetime

SOCKET = "/var/lib/kubelet/device-plugins/nvidia.sock"
RESOURCE = "nvidia.com/gpu"
FIRST_WITH_KLOG = 14
"""Version 0.14 of the plugin; before 0.0 there were 1.11 of 2018 and 1.0.0-beta of 2020, as old in form."""
_VERSION = re.compile(r"v?0\.(\d+)\.")
NO_DRIVER = "Failed to initialize NVML: could not load NVML library."


def lines(tag: str, started: datetime, *, has_driver: bool) -> list[str]:
    """Return what a plugin of an image's tag prints when it starts: the newer ones by klog."""
    match = _VERSION.match(tag)
    newer = match is not None and int(match[1]) >= FIRST_WITH_KLOG
    return _klog(started, has_driver=has_driver) if newer else _of_2018(started, has_driver=has_driver)


def _of_2018(started: datetime, *, has_driver: bool) -> list[str]:
    stamp = f"{started:%Y/%m/%d %H:%M:%S}"
    if not has_driver:
        return [f"{stamp} Loading NVML", f"{stamp} {NO_DRIVER}"]
    messages = (
        "Loading NVML",
        "Fetching devices.",
        "Starting FS watcher.",
        "Starting OS watcher.",
        f"Starting to serve on {SOCKET}",
        "Registered device plugin with Kubelet",
    )
    return [f"{stamp} {message}" for message in messages]


def _klog(started: datetime, *, has_driver: bool) -> list[str]:
    stamp = f"I{started:%m%d %H:%M:%S.%f}       1"
    messages = [
        "main.go:240] Starting FS watcher for /var/lib/kubelet/device-plugins",
        "main.go:247] Starting OS watcher.",
        "main.go:262] Starting Plugins.",
        "main.go:319] Loading configuration.",
    ]
    if not has_driver:
        failed = f"E{started:%m%d %H:%M:%S.%f}       1 factory.go:112] Incompatible strategy detected auto"
        waits = f"{stamp} main.go:381] No devices found. Waiting indefinitely."
        return [*(f"{stamp} {message}" for message in messages), failed, waits]
    messages += [
        "main.go:356] Retrieving plugins.",
        f"server.go:195] Starting GRPC server for '{RESOURCE}'",
        f"server.go:139] Starting to serve '{RESOURCE}' on /var/lib/kubelet/device-plugins/nvidia-gpu.sock",
        f"server.go:146] Registered device plugin for '{RESOURCE}' with Kubelet",
    ]
    return [f"{stamp} {message}" for message in messages]
