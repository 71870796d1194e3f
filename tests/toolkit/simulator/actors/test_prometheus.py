"""What the cluster's own Prometheus would scrape and evaluate."""

from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from core.apis import kinds
from core.apis.names import CLUSTER_MONITORING
from toolkit.simulator.actors.api import SERVICE, ApiError
from toolkit.simulator.actors.prometheus import Prometheus

NAMESPACE, PORT = "gpus", 20001
LABELS = {"app": "exporter"}
NODE_NAME = "__meta_kubernetes_pod_node_name"
RUNS = {"phase": "Running", "podIP": "10.128.0.9", "conditions": [{"type": "Ready", "status": "True"}]}
BASE: dict[kinds.Kind, dict[str, Any]] = {
    kinds.NAMESPACE: {"metadata": {"name": NAMESPACE, "labels": {CLUSTER_MONITORING: "true"}}},
    kinds.SERVICE_MONITOR: {
        "metadata": {"name": "exporter", "namespace": NAMESPACE},
        "spec": {
            "selector": {"matchLabels": LABELS},
            "endpoints": [
                {"port": "metrics", "relabelings": [{"sourceLabels": [NODE_NAME], "targetLabel": "instance"}]}
            ],
        },
    },
    kinds.PROMETHEUS_RULE: {
        "metadata": {"name": "rules", "namespace": NAMESPACE},
        "spec": {"groups": [{"name": "hpc", "rules": [{"alert": "A", "expr": "vector(1)"}]}]},
    },
    SERVICE: {
        "metadata": {"name": "exporter", "namespace": NAMESPACE, "labels": LABELS},
        "spec": {"selector": LABELS, "ports": [{"name": "metrics", "port": 9400}]},
    },
    kinds.POD: {
        "metadata": {"name": "exporter-x", "namespace": NAMESPACE, "labels": LABELS},
        "spec": {"nodeName": "dgx01", "containers": [{"name": "exporter", "image": "dcgm-exporter"}]},
        "status": RUNS,
    },
}


class _Api:
    """Lists by namespace and labels; a refusal ends a list of the account's own."""

    def __init__(self, objects: dict[kinds.Kind, dict[str, Any]], *, refused: bool) -> None:
        self._objects = objects
        self._refused = refused

    def list(self, kind: kinds.Kind, namespace: str | None = None, selector: str = "") -> Any:
        if self._refused:
            status = {"code": 403, "reason": "Forbidden", "message": "no"}
            raise ApiError("prometheus-k8s", "list", kind.plural, status)
        found, wanted = self._objects[kind], dict(pair.split("=") for pair in selector.split(",") if pair)
        labels = found["metadata"].get("labels") or {}
        there = wanted.items() <= labels.items() and namespace in (None, found["metadata"].get("namespace"))
        return {"items": [found] if there else []}


def prometheus(changed: dict[kinds.Kind, dict[str, Any]], *, refused: bool = False) -> Prometheus:
    """Return it over these objects in place of the usual ones; `refused`: its account has no rights."""
    node = {"metadata": {"name": "dgx01"}}
    runtime: Any = SimpleNamespace(
        identity=lambda name: _Api(BASE | changed, refused=refused and name == "prometheus-k8s"),
        nodes=SimpleNamespace(items=lambda: [node]),
    )
    return Prometheus(runtime, PORT)


def test_targets_have_the_labels_of_their_monitor() -> None:
    """An exporter has the labels of the operator's relabelling, and those that its monitor copies."""
    node, exporter = prometheus({}).targets()
    assert node["labels"]["instance"] == "dgx01"
    assert exporter["targets"] == [f"127.0.0.1:{PORT}"]
    assert exporter["labels"] == {
        "__metrics_path__": "/pods/gpus/exporter-x/metrics",
        "job": "exporter",
        "service": "exporter",
        "instance": "dgx01",
        "namespace": NAMESPACE,
        "pod": "exporter-x",
        "container": "exporter",
        "endpoint": "metrics",
    }


@pytest.mark.parametrize(
    "changed",
    [
        {kinds.NAMESPACE: {"metadata": {"name": NAMESPACE}}},
        {SERVICE: BASE[SERVICE] | {"metadata": {"name": "exporter", "namespace": NAMESPACE}}},
        {kinds.POD: BASE[kinds.POD] | {"status": {"phase": "Pending"}}},
    ],
    ids=["namespace without label", "monitor selects nothing", "pod does not run"],
)
def test_what_is_missing_hides_the_exporter(changed: dict[kinds.Kind, dict[str, Any]]) -> None:
    """Without the label of the namespace, a Service that the monitor selects, or a running pod nothing is scraped."""
    assert len(prometheus(changed).targets()) == 1


def test_without_rights_in_the_namespace_nothing_is_scraped() -> None:
    """A role that is missing hides the exporters, as on a real cluster; nodes are scraped all the same."""
    assert len(prometheus({}, refused=True).targets()) == 1


def test_rules_are_those_of_labelled_namespaces() -> None:
    """The rule file has each PrometheusRule's groups, under names of their own."""
    assert yaml.safe_load(prometheus({}).rules())["groups"] == [
        {"name": "gpus/rules/hpc", "rules": [{"alert": "A", "expr": "vector(1)"}]}
    ]
    assert yaml.safe_load(prometheus({kinds.NAMESPACE: {"metadata": {"name": NAMESPACE}}}).rules()) == {"groups": []}


def test_the_configuration_finds_the_targets() -> None:
    """A Prometheus on this machine asks for the targets, and reads the rules from a file beside it."""
    found = yaml.safe_load(prometheus({}).configuration())
    assert found["rule_files"] == ["rules.yml"]
    (discovery,) = found["scrape_configs"][0]["http_sd_configs"]
    assert discovery["url"] == f"http://127.0.0.1:{PORT}/targets"
