"""Versions that the settings request: results of two of them are compared only by who knows what changed."""

import re
from collections.abc import Mapping

from components.operators.olm_operator import OlmSubscription
from stacks.settings.gpu import DevicePluginSettings, GpuOperatorSettings, SpecialResourceSettings
from stacks.settings.platform import Settings

_VERSION = re.compile(r"(?:^|[-.])v?(\d+\.\d+)")
"""In a channel such as v26.7 or stable-v1.3, and in a starting_csv such as nvidia-network-operator.v26.7.0-1."""


def version_of(operator: OlmSubscription) -> str | None:
    """Return major and minor version of an operator, by its channel; None where that follows several."""
    return version_in(operator.starting_csv or "") or version_in(operator.channel)


def version_in(name: str) -> str | None:
    """Return major and minor version in the name of a channel or of a ClusterServiceVersion; None: it has none."""
    match = _VERSION.search(name)
    return match[1] if match else None


def numbers(version: str) -> tuple[int, ...]:
    """Return major and minor version as numbers, to compare them."""
    return tuple(map(int, version.split(".")))


def requested(settings: Settings) -> Mapping[str, str]:
    """Return part of the stack -> version."""
    gpu, mpi = settings.gpu, settings.mpi_operator
    drivers = sorted({pool.driver.version for pool in settings.gpu_pools if pool.driver})
    versions = {
        "OpenShift": settings.release,
        "way to GPUs": gpu.enablement if isinstance(gpu, DevicePluginSettings) else _channel(gpu),
        "GPU driver": ", ".join(drivers),
        "MPI operator": mpi.image if mpi else "",
    }
    return {part: version for part, version in versions.items() if version}


def _channel(gpu: GpuOperatorSettings | SpecialResourceSettings) -> str:
    return f"{gpu.operator.package}, channel {gpu.operator.channel}"
