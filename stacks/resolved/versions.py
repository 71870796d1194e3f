"""Versions that the settings request: results of two of them are compared only by who knows what changed."""

from collections.abc import Mapping

from stacks.settings.gpu import DevicePluginSettings, GpuOperatorSettings, SpecialResourceSettings
from stacks.settings.platform import Settings


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
