"""Alerts and dashboards of GPUs and fabric."""

import json
import re
from typing import Any

import pytest
from pydantic import ValidationError

from components.monitoring.alerts import Limits
from components.monitoring.dashboards import GPUS, INFINIBAND, TENANTS, Dashboard, Panel, grafana
from components.monitoring.gpu_monitoring import GpuMonitoring, GpuMonitoringArgs, pages
from components.monitoring.metrics import METRICS as EXPORTER_METRICS
from components.monitoring.metrics import exporter_list, named
from components.monitoring.monitoring_rules import alerts, recorded
from tests.conformance.schema import expect_conformity
from tests.support.declared import Manifest, declared, faults, only

LIMITS = Limits(
    gpus_per_node=8,
    infiniband_devices=("mlx5_0", "mlx5_1"),
    port_gbps=200,
    roce=True,
    hw_counters=True,
    node_watts=6500,
)
ALERTS = {alert.name: alert for alert in alerts([LIMITS])}

_COLLECTED = """
link_downed_total link_error_recovery_total physical_state_id port_data_received_bytes_total
port_data_transmitted_bytes_total port_discards_transmitted_total port_errors_received_total
port_packets_received_total port_packets_transmitted_total port_transmit_wait_total rate_bytes_per_second state_id
out_of_sequence_packets_received_total packet_sequence_errors_total local_ack_timeout_errors_total
out_of_buffer_drops_total rp_cnp_ignored_packets_received_total rp_cnp_packets_handled_total
"""
METRICS = {
    *(each.name for each in EXPORTER_METRICS),
    *(f"node_infiniband_{name}" for name in _COLLECTED.split()),
    *("node_hwmon_temp_celsius", "node_hwmon_power_average_watt"),
}
"""What is exported: of GPUs, our own list; of ports, prometheus/node_exporter collector/infiniband_linux.go (043fecb),
with the hardware counters of 1.12; of sensors, its collector/hwmon_linux.go.
"""


def panels(dashboard: Dashboard) -> list[Panel]:
    """Return all panels of a dashboard."""
    return [panel for row in dashboard.rows for panel in row.panels]


EXPRESSIONS = {
    **{name: alert.expression for name, alert in ALERTS.items()},
    **{
        f"{page.title}: {panel.title}": each.expression
        for page in (GPUS, INFINIBAND)
        for panel in panels(page)
        for each in panel.series
    },
}


def test_metrics_are_those_that_the_exporters_have() -> None:
    """Alerts and dashboards use metrics that the exporters have."""
    used = {name: {*re.findall(r"\b(?:DCGM|node)_\w+", text)} for name, text in EXPRESSIONS.items()}
    assert all(used.values())
    assert {name: more for name, found in used.items() if (more := found - METRICS)} == {}


def test_alerts_are_about_what_the_platform_has() -> None:
    """Alerts follow the machine's GPUs and the ports in use."""
    assert 'device=~"mlx5_0|mlx5_1"' in ALERTS["InfinibandPortDown"].expression
    assert ALERTS["GpuMissing"].expression.endswith("< 8")
    without = {alert.name for alert in alerts([Limits(gpus_per_node=8)])}
    ports = {name for name, alert in ALERTS.items() if "node_infiniband" in alert.expression}
    assert ports
    assert ALERTS.keys() - without == ports | {"NodePower"}


def test_gpus_without_row_remapping_are_watched_by_their_retired_pages() -> None:
    """On V100 the alerts about memory use counters that it has."""
    found = {each.name: each.expression for each in alerts([LIMITS.model_copy(update={"row_remapping": False})])}
    assert "ECC_DBE_VOL_TOTAL" in found["GpuMemoryLost"]
    assert "RETIRED_DBE" in found["GpuPagesRetired"]
    assert "GpuMemoryWornOut" not in found


def test_hardware_counters_are_a_choice_and_congestion_is_of_roce() -> None:
    """Without `hw_counters` no rule asks for them; congestion packets exist on RoCE alone."""
    names = [
        {each.name for each in alerts([LIMITS.model_copy(update=off)])}
        for off in ({"hw_counters": False}, {"roce": False})
    ]
    assert not any(name.startswith(("Rdma", "Roce")) for name in names[0])
    assert "RdmaPacketsLost" in names[1]
    assert not any(name.startswith("Roce") for name in names[1])


def test_metrics_have_the_names_of_the_exporters_generation() -> None:
    """Rules for the exporter 2.0 use its names and labels; those whose metrics it lacks are not written."""
    found = {each.name: each for each in alerts([LIMITS.model_copy(update={"generation": "2.0"})])}
    assert "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS" in found["GpuPowerBrake"].expression
    assert "count by (instance)" in found["GpuMissing"].expression
    assert not any("Hostname" in each.expression + each.description for each in found.values())
    assert {*ALERTS} - {*found} == {"GpuMemoryLost", "GpuMemoryWornOut"}
    assert named("DCGM_FI_DEV_GPU_TEMP / DCGM_FI_DEV_ROW_REMAP_FAILURE", "2.0") is None


def test_rules_follow_what_exporters_of_the_release_know() -> None:
    """Without the kubelet's socket no rule is about pods, and an old node_exporter has no states of ports."""
    for missing, gone in (
        ({"pods": False}, {"GpuUnderused"}),
        ({"port_states": False}, {"InfinibandPortDown", "PortSlow"}),
    ):
        limits = LIMITS.model_copy(update=missing)
        assert {*ALERTS} - {each.name for each in alerts([limits])} == gone
    assert "hpc:gpu_util:avg" not in {series.name for series in recorded([LIMITS.model_copy(update={"pods": False})])}


def test_pages_show_only_what_has_series() -> None:
    """Without pods the tenants' page has the queue alone; of the exporter 2.0 nodes have their names in `instance`."""
    limits = LIMITS.model_copy(update={"generation": "2.0", "pods": False, "port_states": False})
    found = pages(GpuMonitoringArgs(namespace="dcgm-exporter", machines=(limits,)))
    assert [row.title for row in found["hpc-tenants"].rows] == ["Queue"]
    assert "Ports" not in [row.title for row in found["hpc-infiniband"].rows]
    texts = [
        text
        for page in found.values()
        for each in panels(page)
        for one in each.series
        for text in (one.expression, one.legend)
    ]
    assert "sum by (instance) (DCGM_FI_DEV_POWER_USAGE)" in texts
    assert not any("Hostname" in text for text in texts)


def test_list_of_the_exporter_has_three_columns() -> None:
    """Every line of the exporter's list is a field, its kind and a text; a comma in the text would be a fourth."""
    lines = [line.split(", ") for line in exporter_list().splitlines()]
    assert len(lines) == len(EXPORTER_METRICS)
    assert all(len(line) == 3 and line[1] in ("gauge", "counter") for line in lines)


def test_limits_are_the_settings() -> None:
    """Thresholds of alerts follow the settings."""
    found = {alert.name: alert.expression for alert in alerts([LIMITS.model_copy(update={"temperature": 77})])}
    assert found["GpuTooHot"] == "DCGM_FI_DEV_GPU_TEMP > 77"
    assert "[10m]) < 20" in found["GpuUnderused"]


def test_programs_own_faults_are_no_fault_of_the_gpu() -> None:
    """XIDs of a program's own faults raise no alert."""
    assert "== 31" in ALERTS["GpuFault"].expression
    assert "== 79" not in ALERTS["GpuFault"].expression


def test_idle_gpus_are_told_to_their_tenant() -> None:
    """Alerts about idle GPUs are in the tenant's namespace."""
    assert re.search(r'"namespace", "\$1", "exported_namespace"', ALERTS["GpuUnderused"].expression)
    assert 'exported_pod!=""' in ALERTS["GpuUnderused"].expression


@pytest.mark.parametrize("name", ALERTS)
def test_texts_name_the_thing_by_labels_that_its_series_has(name: str) -> None:
    """Texts of alerts use labels that their series have."""
    text = ALERTS[name].description
    used = set(re.findall(r"\$labels\.(\w+)", text))
    known = {"device", "instance"} if "node_infiniband" in ALERTS[name].expression else {"gpu", "Hostname"}
    if name == "GpuUnderused":
        known |= {"exported_pod", "exported_namespace"}
    if name in ("GpuMissing", "NodePower"):
        known = {"Hostname"}
    assert used == known


ARGS: dict[str, Any] = {"namespace": "nvidia-gpu-operator", "machines": (LIMITS,)}


def monitoring(**changed: Any) -> list[Manifest]:
    """Return what is declared."""
    args = GpuMonitoringArgs.model_validate({**ARGS, **changed})
    found = declared(lambda: GpuMonitoring("gpus", args))
    assert faults(found) == []
    return found


def test_rule_has_the_shape_of_its_definition() -> None:
    """The PrometheusRule matches its definition."""
    expect_conformity(only(monitoring(), "PrometheusRule"))


def test_severities_are_the_platforms() -> None:
    """Severities are those that OpenShift's Alertmanager routes."""
    group, _ = only(monitoring(), "PrometheusRule")["spec"]["groups"]
    assert {rule["labels"]["severity"] for rule in group["rules"]} == {"critical", "warning", "info"}


def test_console_finds_the_dashboards() -> None:
    """Dashboards have the namespace and label that the console reads."""
    shown = [
        each for each in monitoring() if each["kind"] == "ConfigMap" and each["metadata"]["name"] != "hpc-dcgm-metrics"
    ]
    assert [page["metadata"]["name"] for page in shown] == ["hpc-gpus", "hpc-infiniband", "hpc-tenants"]
    assert {page["metadata"]["namespace"] for page in shown} == {"openshift-config-managed"}
    assert {page["metadata"]["labels"]["console.openshift.io/dashboard"] for page in shown} == {"true"}


def test_pages_are_about_what_is_there_and_wanted() -> None:
    """There is a dashboard about InfiniBand only with InfiniBand."""
    assert len(monitoring(machines=(Limits(gpus_per_node=8),))) == 4
    assert len(monitoring(dashboards=False)) == 2


@pytest.mark.parametrize("page", [GPUS, INFINIBAND, TENANTS], ids=lambda page: str(page.title))
def test_console_can_draw_the_pages(page: Dashboard) -> None:
    """Panels are of kinds that the console draws, with distinct numbers."""
    found = json.loads(grafana(page))
    drawn = [panel for row in found["rows"] for panel in row["panels"]]
    assert {panel["type"] for panel in drawn} <= {"graph", "singlestat", "table"}
    assert len({panel["id"] for panel in drawn}) == len(drawn)
    assert all(sum(panel["span"] for panel in row["panels"]) == 12 for row in found["rows"])
    assert {panel["datasource"] for panel in drawn} == {"$datasource"}
    assert found["templating"]["list"][0]["name"] == "datasource"


def test_each_gpu_has_its_present_use_and_its_course() -> None:
    """The page of GPUs has the use of each GPU now, as a table by node, GPU and pod, and over time, every 5 s again."""
    found = json.loads(grafana(GPUS))
    (row,) = (row for row in found["rows"] if row["title"] == "Use of each GPU")
    now, course = row["panels"]
    assert (now["type"], course["type"], found["refresh"]) == ("table", "graph", "5s")
    (target,) = now["targets"]
    assert (target["instant"], target["format"]) == (True, "table")
    # Without an aggregation: each GPU has its own row, and its own curve.
    assert target["expr"] == course["targets"][0]["expr"] == "DCGM_FI_DEV_GPU_UTIL / 100"
    shown = [style["pattern"] for style in now["styles"] if style["type"] != "hidden"]
    assert shown == ["Hostname", "gpu", "exported_pod", "Value"]
    assert course["legend"]["show"]


def test_nodes_show_their_own_temperature_and_power() -> None:
    """Beside the GPUs' sensors the page has those of the machine, of every machine its own curve."""
    (row,) = (row for row in GPUS.rows if row.title == "Sensors of the nodes")
    assert [each.expression for panel in row.panels for each in panel.series] == [
        "max by (instance) (node_hwmon_temp_celsius)",
        "sum by (instance) (node_hwmon_power_average_watt)",
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"gpus_per_node": 0},
        {"gpus_per_node": 8, "temperature": 150},
        {"gpus_per_node": 8, "infiniband_devices": ('mlx5_0"} or vector(1) #',)},
    ],
)
def test_limits_that_say_nothing_are_refused(wrong: dict[str, Any]) -> None:
    """Limits at which an alert is never or always raised are refused."""
    with pytest.raises(ValidationError):
        Limits.model_validate(wrong)
