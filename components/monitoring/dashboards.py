"""Dashboards of GPUs, fabric and tenants for OpenShift's console.

The console draws what Grafana 6 did: rows of panels, of the kinds graph and singlestat. It knows few units, so values
come in the base unit and shares between 0 and 1.
"""

import json
import re
from collections.abc import Callable
from typing import Any, Literal

from pydantic import Field

from components.base.model import Model

Unit = Literal["percentunit", "bytes", "Bps", "short"]
_WIDTH = 12
"""Columns of a row."""
_LABEL = re.compile(r"{{(\w+)}}")


class Series(Model):
    """One expression; `legend` names each of its series."""

    expression: str
    legend: str = ""


class Panel(Model):
    """One panel: a graph over time, the present value as a number, or a table of the present values of all series."""

    title: str
    unit: Unit = "short"
    series: tuple[Series, ...] = Field(min_length=1)
    kind: Literal["graph", "singlestat", "table"] = "graph"

    @property
    def columns(self) -> list[str]:
        """Labels that name the rows of a table: those of its first legend."""
        return _LABEL.findall(self.series[0].legend)


class Row(Model):
    """Panels beside each other."""

    title: str
    panels: tuple[Panel, ...] = Field(min_length=1, max_length=4)


class Dashboard(Model):
    """One dashboard of the console."""

    title: str
    rows: tuple[Row, ...] = Field(min_length=1)
    refresh: str = Field(default="30s", description="how often an open page asks again")


def restricted(
    dashboard: Dashboard, expression: Callable[[str], str | None], legend: Callable[[str], str]
) -> Dashboard | None:
    """Return a dashboard with changed texts, without panels that have an expression of None; None without any left."""
    rows = []
    for row in dashboard.rows:
        panels = []
        for panel in row.panels:
            texts = [(expression(curve.expression), legend(curve.legend)) for curve in panel.series]
            series = tuple(Series(expression=query, legend=name) for query, name in texts if query is not None)
            if len(series) == len(texts):
                panels.append(panel.model_copy(update={"series": series}))
        if panels:
            rows.append(row.model_copy(update={"panels": tuple(panels)}))
    return dashboard.model_copy(update={"rows": tuple(rows)}) if rows else None


def grafana(dashboard: Dashboard) -> str:
    """Return the dashboard as JSON."""
    rows, number = [], 0
    for row in dashboard.rows:
        panels = []
        for panel in row.panels:
            number += 1
            panels.append(_panel(panel, number, _WIDTH // len(row.panels)))
        rows.append({"title": row.title, "showTitle": True, "collapse": False, "panels": panels})
    source = {"name": "datasource", "type": "datasource", "query": "prometheus", "hide": 2}
    page = {
        "title": dashboard.title,
        "tags": ["hpc"],
        "schemaVersion": 14,
        "time": {"from": "now-1h", "to": "now"},
        "refresh": dashboard.refresh,
        "templating": {"list": [source]},
        "rows": rows,
    }
    return json.dumps(page, indent=1)


def _panel(panel: Panel, number: int, span: int) -> dict[str, Any]:
    targets = [
        {
            "refId": chr(ord("A") + place),
            "expr": curve.expression,
            "legendFormat": curve.legend,
            "format": "time_series",
        }
        for place, curve in enumerate(panel.series)
    ]
    common = {"id": number, "title": panel.title, "type": panel.kind, "span": span, "datasource": "$datasource"}
    if panel.kind == "singlestat":
        return common | {"targets": targets, "format": panel.unit, "valueName": "current"}
    if panel.kind == "table":
        rows = [target | {"format": "table", "instant": True} for target in targets]
        hidden = {"pattern": "/.*/", "type": "hidden"}
        values = {"pattern": "Value", "alias": panel.title, "type": "number", "unit": panel.unit, "decimals": 2}
        labels = [{"pattern": name, "alias": name, "type": "string"} for name in panel.columns]
        return common | {"targets": rows, "transform": "table", "styles": [*labels, values, hidden]}
    axes = [{"format": panel.unit, "min": 0, "show": True}, {"format": "short", "show": False}]
    return common | {"targets": targets, "yaxes": axes, "legend": {"show": True}, "lines": True, "stack": False}


_GPU = "{{Hostname}} {{gpu}} {{exported_pod}}"
_PORT = "{{instance}} {{device}}"
_MIB = 1024 * 1024


def _graph(title: str, expression: str, unit: Unit = "short", legend: str = _GPU) -> Panel:
    return Panel(title=title, unit=unit, series=(Series(expression=expression, legend=legend),))


def _table(title: str, expression: str, unit: Unit = "short", legend: str = _GPU) -> Panel:
    return Panel(title=title, unit=unit, series=(Series(expression=expression, legend=legend),), kind="table")


def _number(title: str, expression: str, unit: Unit = "short") -> Panel:
    return Panel(title=title, unit=unit, series=(Series(expression=expression),), kind="singlestat")


GPUS = Dashboard(
    title="HPC / GPUs",
    refresh="5s",
    rows=(
        Row(
            title="Use",
            panels=(
                _number("Mean use", "avg(DCGM_FI_DEV_GPU_UTIL) / 100", "percentunit"),
                _number("GPUs", "count(DCGM_FI_DEV_GPU_UTIL)"),
                _number("GPUs that a pod holds", 'count(DCGM_FI_DEV_GPU_UTIL{exported_pod!=""})'),
            ),
        ),
        Row(
            title="Use of each GPU",
            panels=(
                _table("Use now", "DCGM_FI_DEV_GPU_UTIL / 100", "percentunit"),
                _graph("Use", "DCGM_FI_DEV_GPU_UTIL / 100", "percentunit"),
            ),
        ),
        Row(
            title="Memory",
            panels=(
                _graph(
                    "Memory used, share",
                    "DCGM_FI_DEV_FB_USED / (DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE)",
                    "percentunit",
                ),
                _graph("Memory used", f"DCGM_FI_DEV_FB_USED * {_MIB}", "bytes"),
            ),
        ),
        Row(
            title="Temperature and power",
            panels=(
                _graph("Temperature, degrees Celsius", "DCGM_FI_DEV_GPU_TEMP"),
                _graph("Power, W", "DCGM_FI_DEV_POWER_USAGE"),
                _graph(
                    "Power of all GPUs of a node, W",
                    "sum by (Hostname) (DCGM_FI_DEV_POWER_USAGE)",
                    legend="{{Hostname}}",
                ),
            ),
        ),
        # node_exporter's collector hwmon; only some machines have a sensor of their whole power.
        Row(
            title="Sensors of the nodes",
            panels=(
                _graph(
                    "Warmest sensor, degrees Celsius",
                    "max by (instance) (node_hwmon_temp_celsius)",
                    legend="{{instance}}",
                ),
                _graph(
                    "Power of the node, W", "sum by (instance) (node_hwmon_power_average_watt)", legend="{{instance}}"
                ),
            ),
        ),
        Row(
            title="Clocks and faults",
            panels=(
                _graph("Clock, Hz", "DCGM_FI_DEV_SM_CLOCK * 1000000"),
                _graph("Last XID", "DCGM_FI_DEV_XID_ERRORS"),
            ),
        ),
    ),
)

INFINIBAND = Dashboard(
    title="HPC / RDMA ports",
    rows=(
        Row(
            title="Data",
            panels=(
                _graph("Sent", "rate(node_infiniband_port_data_transmitted_bytes_total[5m])", "Bps", _PORT),
                _graph("Received", "rate(node_infiniband_port_data_received_bytes_total[5m])", "Bps", _PORT),
            ),
        ),
        Row(
            title="Congestion and errors",
            panels=(
                _graph("Ticks that data waited", "rate(node_infiniband_port_transmit_wait_total[5m])", legend=_PORT),
                _graph("Broken packets", "increase(node_infiniband_port_errors_received_total[1h])", legend=_PORT),
                _graph("Links lost", "increase(node_infiniband_link_downed_total[1h])", legend=_PORT),
            ),
        ),
        Row(title="Ports", panels=(_graph("State (4: active)", "node_infiniband_state_id", legend=_PORT),)),
    ),
)

_TENANT = "{{exported_namespace}}"
_HELD = 'DCGM_FI_DEV_GPU_UTIL{exported_pod!=""}'
_REQUESTED = 'kube_pod_container_resource_requests{resource="nvidia_com_gpu"}'
_PENDING = 'kube_pod_status_phase{phase="Pending"} == 1'


def _quota(kind: str) -> str:
    return f'kube_resourcequota{{resource="requests.nvidia.com/gpu", type="{kind}"}}'


TENANTS = Dashboard(
    title="HPC / Tenants",
    rows=(
        Row(
            title="GPU hours",
            panels=(
                # A sample a minute for each GPU that a pod holds, busy or not.
                _graph(
                    "GPU hours of the last 24 h",
                    f"sum by (exported_namespace) (count_over_time({_HELD}[24h:1m])) / 60",
                    legend=_TENANT,
                ),
                _graph(
                    "GPUs held",
                    f"count by (exported_namespace) ({_HELD})",
                    legend=_TENANT,
                ),
            ),
        ),
        Row(
            title="Idle GPUs",
            panels=(
                _graph(
                    "GPUs held and under 5 % for 30 min",
                    f"count by (exported_namespace) (avg_over_time({_HELD}[30m]) < 5)",
                    legend=_TENANT,
                ),
                _graph(
                    "Mean use of GPUs held",
                    f"avg by (exported_namespace) ({_HELD}) / 100",
                    "percentunit",
                    _TENANT,
                ),
            ),
        ),
        Row(
            title="Queue",
            panels=(
                # Of pods that exist: jobs that Kueue holds back have none yet.
                _graph(
                    "GPUs that pending pods wait for",
                    f"sum by (namespace) ({_REQUESTED} * on (namespace, pod) group_left () ({_PENDING}))",
                    legend="{{namespace}}",
                ),
                _graph(
                    "Quota used",
                    f"{_quota('used')} / ignoring (type) ({_quota('hard')} > 0)",
                    "percentunit",
                    "{{namespace}}",
                ),
            ),
        ),
    ),
)
"""By what the cluster has anyway: the exporter's metrics with their pods, and kube-state-metrics."""
