"""Alerts and dashboards over the metrics of GPUs and fabric.

The metrics come from the GPU Operator's exporter, whose namespace the cluster's own Prometheus scrapes (OlmOperator:
`cluster_monitoring`), so the monitoring of user namespaces is not needed for them. It is a line in
cluster-monitoring-config, one object in which a cluster's administrators have all their settings: what this stack
declared of it would replace theirs. Grafana is not needed either; the console draws the dashboards.
"""

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field

from components.base.component import Component, CustomObject
from components.base.model import DnsLabel, DnsName, Model
from components.monitoring.alerts import Limits
from components.monitoring.dashboards import GPUS, INFINIBAND, TENANTS, Dashboard, grafana, restricted
from components.monitoring.metrics import LIST_FILE, exporter_list, named
from components.monitoring.monitoring_rules import groups
from core.apis import kinds, names
from core.apis.names import labels

DASHBOARDS = "openshift-config-managed"
"""Namespace in which the console looks for dashboards."""
EXPORTER_LIST = "hpc-dcgm-metrics"
"""ConfigMap with the exporter's metrics, in the operator's namespace; its ClusterPolicy names it."""


class GpuMonitoringArgs(Model):
    """What is monitored."""

    namespace: DnsLabel = Field(description="namespace of the GPU Operator, scraped by the cluster's Prometheus")
    rule_name: DnsName = Field(default="gpus", description="name of the PrometheusRule")
    machines: tuple[Limits, ...] = Field(min_length=1, description="limits, by kind of machine")
    exporter_list: bool = Field(default=True, description="the list of metrics of the GPU Operator's exporter")
    dashboards: bool = Field(default=True, description="dashboards in the console, for administrators only")


def pages(args: GpuMonitoringArgs) -> dict[str, Dashboard]:
    """Return the dashboards by the names of their ConfigMaps."""
    if not args.dashboards:
        return {}
    # Exporter and release, which decide over series, are the same for all machines.
    limits = args.machines[0]
    fabric = {"hpc-infiniband": INFINIBAND} if any(machine.infiniband_devices for machine in args.machines) else {}
    drawn = {
        name: _dashboard(page, limits) for name, page in {"hpc-gpus": GPUS, **fabric, "hpc-tenants": TENANTS}.items()
    }
    return {name: page for name, page in drawn.items() if page is not None}


def _dashboard(page: Dashboard, limits: Limits) -> Dashboard | None:
    """Return what of a dashboard the machines' exporters have series for, None where nothing is left."""

    def shown(expression: str) -> str | None:
        lacks = (not limits.pods and "exported_" in expression) or (
            not limits.port_states and "_state_id" in expression
        )
        return None if lacks else named(expression, limits.generation)

    return restricted(page, shown, lambda legend: named(legend, limits.generation) or legend)


class GpuMonitoring(Component):
    """One PrometheusRule, the list of the exporter's metrics, and a ConfigMap for each dashboard.

    Outputs: `rule`, known when it exists.
    """

    rule: pulumi.Output[str]

    def __init__(self, name: str, args: GpuMonitoringArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("operators:GpuMonitoring", name, args, opts)
        own_labels = labels("gpu-monitoring", "monitoring")
        rule = CustomObject(
            f"{name}-rule",
            kinds.PROMETHEUS_RULE,
            k8s.meta.v1.ObjectMetaArgs(name=args.rule_name, namespace=args.namespace, labels=own_labels),
            {"spec": {"groups": groups(args.machines)}},
            self.child(),
        )
        if args.exporter_list:
            k8s.core.v1.ConfigMap(
                f"{name}-metrics",
                metadata=k8s.meta.v1.ObjectMetaArgs(name=EXPORTER_LIST, namespace=args.namespace, labels=own_labels),
                data={LIST_FILE: exporter_list(args.machines[0].generation)},
                opts=self.child(),
            )
        for page, dashboard in pages(args).items():
            k8s.core.v1.ConfigMap(
                f"{name}-{page}",
                metadata=k8s.meta.v1.ObjectMetaArgs(
                    name=page, namespace=DASHBOARDS, labels={**own_labels, names.CONSOLE_DASHBOARD: "true"}
                ),
                data={f"{page}.json": grafana(dashboard)},
                opts=self.child(),
            )
        self.outputs(rule=rule.id.apply(lambda _: args.rule_name))
