"""Versions of a stack: results of two of them are compared only by who knows what changed. Pure."""

from collections.abc import Iterable, Mapping

from evidence.node_facts import NodeFact, NodeFacts
from evidence.verdict import Job
from stacks.gpu_settings import DevicePluginSettings, GpuOperatorSettings, SpecialResourceSettings
from stacks.platform import Settings


def versions(settings: Settings, jobs: Iterable[Job]) -> Mapping[str, str]:
    """Return part of the stack -> version: what the settings request, and what the nodes report."""
    gpu, mpi = settings.gpu, settings.mpi_operator
    rows = [row for job in jobs for one in job.readings if isinstance(one, NodeFacts) for row in one.nodes]
    found = {
        "OpenShift": settings.release,
        "way to GPUs": gpu.enablement if isinstance(gpu, DevicePluginSettings) else _channel(gpu),
        "MPI operator": mpi.image if mpi else "",
        "GPU driver": _each(rows, "driver"),
        "kernel": _each(rows, "kernel"),
        "system": _each(rows, "os_image"),
        "kubelet": _each(rows, "kubelet"),
    }
    return {part: version for part, version in found.items() if version}


def _channel(gpu: GpuOperatorSettings | SpecialResourceSettings) -> str:
    return f"{gpu.operator.package}, channel {gpu.operator.channel}"


def _each(rows: Iterable[NodeFact], field: str) -> str:
    """Return what nodes have, several where they differ."""
    return ", ".join(sorted({str(value) for row in rows if (value := getattr(row, field))}))
