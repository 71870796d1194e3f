"""Rules as Prometheus itself reads them: promtool checks them, and runs each alert's three cases."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.monitoring.alerts import Limits
from components.monitoring.dashboards import GPUS, INFINIBAND
from components.monitoring.metrics import METRICS, named
from components.monitoring.monitoring_rules import alerts, groups, recorded
from tests.support import debian

CASES = Path(__file__).resolve().parent / "alerts"
GOLDEN = Path(__file__).resolve().parents[2] / "stacks" / "golden" / "prod"
AMPERE = Limits(
    gpus_per_node=8,
    infiniband_devices=("mlx5_0", "mlx5_1"),
    port_gbps=200,
    roce=True,
    hw_counters=True,
    node_watts=6500,
)
RULES = {
    "ampere.yaml": AMPERE,
    "volta.yaml": AMPERE.model_copy(update={"row_remapping": False}),
    "first.yaml": AMPERE.model_copy(update={"row_remapping": False, "generation": "2.0"}),
}
"""Rules by the file that the cases name."""
_SENSORS = ("temp_celsius", "power_average_watt")
_NODE = (
    "port_data_transmitted_bytes_total",
    "port_data_received_bytes_total",
    "port_transmit_wait_total",
    "port_errors_received_total",
    "link_downed_total",
    "state_id",
)


def promtool(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Return what promtool says."""
    command = [str(debian.program("promtool")), *arguments]
    return subprocess.run(
        command, cwd=folder, env=dict(debian.environment()), capture_output=True, text=True, check=False, timeout=120
    )


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    """Return a folder with all rules."""
    for name, limits in RULES.items():
        (tmp_path / name).write_text(yaml.safe_dump({"groups": groups([limits])}))
    return tmp_path


def test_prometheus_accepts_the_rules(folder: Path) -> None:
    """Names, labels, durations, templates and expressions of all rules are as Prometheus reads them."""
    said = promtool("check", "rules", *RULES, folder=folder)
    assert said.returncode == 0, said.stderr
    assert said.stdout.count("SUCCESS") == len(RULES)


def test_prometheus_accepts_the_rules_of_prod(tmp_path: Path) -> None:
    """What the stack prod declares is a rule file, too, once it is out of its PrometheusRule."""
    rule = yaml.safe_load(next(GOLDEN.glob("prometheusrule-*.yaml")).read_text())
    (tmp_path / "prod.yaml").write_text(yaml.safe_dump(rule["spec"]))
    said = promtool("check", "rules", "prod.yaml", folder=tmp_path)
    assert said.returncode == 0, said.stderr


def test_rules_that_prometheus_refuses_are_found(folder: Path) -> None:
    """A broken expression is refused, so the check above can fail."""
    (folder / "broken.yaml").write_text("groups: [{name: hpc, rules: [{alert: A, expr: 'sum(('}]}]")
    assert promtool("check", "rules", "broken.yaml", folder=folder).returncode != 0


@pytest.mark.engine  # promtool evaluates hours of samples: seconds
def test_alerts_fire_stay_silent_and_clear(folder: Path) -> None:
    """Every alert's cases hold in Prometheus' own evaluation."""
    for path in CASES.glob("*.yaml"):
        (folder / f"case-{path.name}").write_bytes(path.read_bytes())
        if (first := _of_2020(path.read_text())) is not None:
            (folder / f"case-2020-{path.name}").write_text(first)
    assert len([*folder.glob("case-2020-*")]) == len(alerts([RULES["first.yaml"]]))
    said = promtool("test", "rules", *sorted(path.name for path in folder.glob("case-*")), folder=folder)
    assert said.returncode == 0, said.stdout + said.stderr


def _of_2020(text: str) -> str | None:
    """Return a case in the names of the exporter 2.0, None for an alert that its rules do not have."""
    said = named(text, "2.0")
    known = {f'alertname="{alert.name}"' for alert in alerts([RULES["first.yaml"]])}
    if said is None or not any(each in said for each in known):
        return None
    return re.sub(r"rule_files: \[\w+\.yaml\]", "rule_files: [first.yaml]", said)


def test_every_alert_has_its_three_cases() -> None:
    """An alert without a case that it fires, stays silent and clears is found here."""
    wanted = {alert.name for limits in RULES.values() for alert in alerts([limits])}
    assert {name for path in CASES.glob("*.yaml") for name in _complete(yaml.safe_load(path.read_text()))} == wanted


def _complete(file: dict[str, Any]) -> Iterator[str]:
    """Yield the alert of a file whose cases expect what their names say."""
    expected = {
        case["name"]: [bool(each["exp_samples"]) for each in case["promql_expr_test"]] for case in file["tests"]
    }
    if expected.keys() != {"fires", "stays silent", "clears"}:
        return
    asked = {
        each["expr"].split('alertname="')[1].split('"')[0] for t in file["tests"] for each in t["promql_expr_test"]
    }
    if all(expected["fires"]) and not any(expected["stays silent"]) and expected["clears"] == [True, False]:
        yield from asked if len(asked) == 1 else ()


@pytest.mark.engine
def test_dashboards_draw_something(folder: Path) -> None:
    """Every expression of every dashboard has series where the exporters have theirs."""
    labels = 'gpu="0",Hostname="worker-0",exported_pod="train-0",exported_namespace="team-a"'
    names = [f"{each.name}{{{labels}}}" for each in METRICS]
    names += [f'node_infiniband_{each}{{device="mlx5_0",instance="worker-0"}}' for each in _NODE]
    names += [f'node_hwmon_{each}{{chip="x",sensor="temp1",instance="worker-0"}}' for each in _SENSORS]
    shown = [
        each.expression
        for page in (GPUS, INFINIBAND)
        for row in page.rows
        for panel in row.panels
        for each in panel.series
    ]
    asked = [
        {
            "expr": f"count({each}) > bool 0",
            "eval_time": "90m",
            "exp_samples": [{"labels": "{}", "value": 1}],
        }
        for each in shown
    ]
    series = [{"series": each, "values": "1+1x100"} for each in names]
    test = {"interval": "1m", "input_series": series, "promql_expr_test": asked}
    (folder / "shown.yaml").write_text(yaml.safe_dump({"rule_files": ["ampere.yaml"], "tests": [test]}))
    said = promtool("test", "rules", "shown.yaml", folder=folder)
    assert said.returncode == 0, said.stdout + said.stderr


_SERIES = {
    'DCGM_FI_DEV_POWER_USAGE{gpu="0",Hostname="worker-0"}': "400x40",
    'DCGM_FI_DEV_POWER_USAGE{gpu="1",Hostname="worker-0"}': "300x40",
    'DCGM_FI_DEV_POWER_USAGE{gpu="0",Hostname="worker-1"}': "90x40",
    'DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="worker-0",exported_pod="a-0",exported_namespace="team-a"}': "96x40",
    'DCGM_FI_DEV_GPU_UTIL{gpu="1",Hostname="worker-0",exported_pod="a-1",exported_namespace="team-a"}': "4x40",
    'DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="worker-1"}': "0x40",
    'node_infiniband_port_data_received_bytes_total{device="mlx5_0",instance="worker-0"}': "0+600x40",
    'node_infiniband_port_data_transmitted_bytes_total{device="mlx5_0",instance="worker-0"}': "0+1200x40",
    'node_infiniband_port_data_received_bytes_total{device="mlx5_9",instance="worker-0"}': "0+6000x40",
    'node_infiniband_port_data_transmitted_bytes_total{device="mlx5_9",instance="worker-0"}': "0+6000x40",
}
"""A sample a minute: two GPUs of a tenant, one that no pod has, and a port beside those that jobs use."""
_RECORDED = {
    "hpc:gpu_power_watts:sum": {'{Hostname="worker-0"}': 700, '{Hostname="worker-1"}': 90},
    "hpc:gpu_util:avg": {'{exported_namespace="team-a"}': 50},
    "hpc:rdma_bytes:rate5m": {'{device="mlx5_0",instance="worker-0"}': 30},  # 600 and 1200 bytes a minute
}
"""Series -> labels and value."""


@pytest.mark.parametrize("file", ["ampere.yaml", "first.yaml"])
def test_recorded_series_have_the_values_of_their_samples(folder: Path, file: str) -> None:
    """Power is the sum of a node's GPUs, use the mean of those that pods have, and bytes are of the jobs' ports."""
    generation = RULES[file].generation
    assert _RECORDED.keys() == {series.name for series in recorded([RULES[file]])}
    expected = [
        {
            "expr": name,
            "eval_time": "30m",
            "exp_samples": [
                {"labels": f"{name}{named(labels, generation)}", "value": value} for labels, value in wanted.items()
            ],
        }
        for name, wanted in _RECORDED.items()
    ]
    series = [{"series": named(name, generation), "values": values} for name, values in _SERIES.items()]
    test = {"interval": "1m", "input_series": series, "promql_expr_test": expected}
    (folder / "recorded.yaml").write_text(yaml.safe_dump({"rule_files": [file], "tests": [test]}))
    said = promtool("test", "rules", "recorded.yaml", folder=folder)
    assert said.returncode == 0, said.stdout + said.stderr
