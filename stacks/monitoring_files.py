"""Files for monitoring programs beside the cluster, which nothing here applies."""

from collections.abc import Mapping

from components import grafana_files
from components.gpu_monitoring import pages
from stacks.gpu_settings import GpuOperatorSettings
from stacks.gpus import monitoring
from stacks.platform import Settings


def files(settings: Settings) -> Mapping[str, str]:
    """Return the texts of the stack's files by name; empty without `gpu.monitoring` or its dashboards."""
    gpu = settings.gpu
    if not settings.has_platform or not isinstance(gpu, GpuOperatorSettings) or gpu.monitoring is None:
        return {}
    found = pages(monitoring(settings, gpu, gpu.monitoring))
    return {f"{name}.json": grafana_files.text(dashboard, name) for name, dashboard in found.items()}
