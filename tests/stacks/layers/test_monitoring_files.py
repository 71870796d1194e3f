"""Files of a stack for Grafana and Alertmanager."""

import yaml

from stacks.layers.monitoring_files import files
from stacks.loading.settings import load, parse
from tests.support.recorded import ROOT, environment, spec
from tests.support.stack_settings import changed

NOTIFY = {"receivers": [{"kind": "webhook", "url": {"name": "alerting", "key": "url"}}]}


def test_receivers_are_told_of_all_alerts_of_the_stack() -> None:
    """The route names each alert of the stack's rule, so that a new one is not lost."""
    found = files(parse(changed("prod", gpu__monitoring={"notify": NOTIFY}), "test"))
    (route,) = yaml.safe_load(found["alertmanager.yaml"])["route"]["routes"]
    rules = [rule for group in spec(environment("prod"), "PrometheusRule")["groups"] for rule in group["rules"]]
    wanted = sorted(rule["alert"] for rule in rules if "alert" in rule)
    assert route["matchers"][0] == f'alertname=~"{"|".join(wanted)}"'


def test_each_part_is_written_alone() -> None:
    """Without dashboards the receivers' file is left, and without both nothing."""
    for monitoring, expected in (
        ({"dashboards": False, "notify": NOTIFY}, ["alertmanager.yaml"]),
        ({"dashboards": False}, []),
        (None, []),
    ):
        assert [*files(parse(changed("prod", gpu__monitoring=monitoring), "test"))] == expected


def test_the_platform_s_stack_writes_them() -> None:
    """Tenants on a platform of another stack write none: its monitoring is not theirs."""
    assert files(load("two-layers", ROOT))
    assert not files(load("two-layers-tenants", ROOT))
