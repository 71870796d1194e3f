"""Files for monitoring programs beside the cluster, which nothing here applies."""

from collections.abc import Mapping

import yaml

from components.monitoring import alert_receivers, grafana_files
from components.monitoring.gpu_monitoring import GpuMonitoringArgs, pages
from components.monitoring.monitoring_rules import alerts, groups
from core.apis import suite
from stacks.layers.gpus import exporter_monitoring, monitoring
from stacks.settings.gpu import GpuOperatorSettings
from stacks.settings.platform import Settings

RULES = "prometheus-rules.yaml"
"""Rules for a Prometheus of the site, where that of the cluster takes none from others."""


def files(settings: Settings) -> Mapping[str, str]:
    """Return the texts of the stack's files by name; empty without dashboards, receivers and rules for elsewhere."""
    gpu = settings.gpu
    if not settings.has_platform:
        return {}
    if isinstance(gpu, GpuOperatorSettings):
        if gpu.monitoring is None:
            return {}
        args, routing = monitoring(settings, gpu, gpu.monitoring), gpu.monitoring.notify
        texts = _dashboards(args)
        if routing:
            names = [alert.name for alert in alerts(args.machines)] + ([suite.ALERT] if settings.suite else [])
            texts[alert_receivers.NAME] = alert_receivers.text(routing, names)
        return texts
    if gpu.exporter is None:
        return {}
    args = exporter_monitoring(settings, gpu.exporter).model_copy(update={"dashboards": True})
    texts = _dashboards(args)
    if not settings.version.service_monitors:
        texts[RULES] = yaml.safe_dump({"groups": groups(args.machines)}, sort_keys=False)
    return texts


def _dashboards(args: GpuMonitoringArgs) -> dict[str, str]:
    return {f"{name}.json": grafana_files.text(dashboard, name) for name, dashboard in pages(args).items()}
