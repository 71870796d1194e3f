"""Files for monitoring programs beside the cluster, which nothing here applies."""

from collections.abc import Mapping

from apis import suite
from components import alertmanager_file, grafana_files
from components.gpu_monitoring import pages
from components.monitoring_rules import alerts
from stacks.gpu_settings import GpuOperatorSettings
from stacks.gpus import monitoring
from stacks.platform import Settings


def files(settings: Settings) -> Mapping[str, str]:
    """Return the texts of the stack's files by name; empty without dashboards and receivers of `gpu.monitoring`."""
    gpu = settings.gpu
    if not settings.has_platform or not isinstance(gpu, GpuOperatorSettings) or gpu.monitoring is None:
        return {}
    args, routing = monitoring(settings, gpu, gpu.monitoring), gpu.monitoring.notify
    found = {f"{name}.json": grafana_files.text(dashboard, name) for name, dashboard in pages(args).items()}
    if routing:
        names = [alert.name for alert in alerts(args.limits)] + ([suite.ALERT] if settings.suite else [])
        found[alertmanager_file.NAME] = alertmanager_file.text(routing, names)
    return found
