"""What the simulated operator for cert-manager makes, out of the chart in cert-manager's Go module."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from core.apis import kinds
from core.apis.kinds import Kind
from toolkit.simulator.actors import cert_manager
from toolkit.simulator.actors import cert_manager_chart as chart
from toolkit.simulator.actors.api import SERVICE, VALIDATING_WEBHOOK_CONFIGURATION
from toolkit.simulator.actors.cert_manager import NAME, NO_TOOL, RESOURCE, CertManagerOperator

ROLES = """
{{- if .Values.global.rbac.create }}
{{- /* a comment
over two lines: of the chart's author */}}
kind: ClusterRole
metadata:
  name: {{ template "cert-manager.fullname" . }}-controller-issuers
  labels:
    {{- include "labels" . | nindent 4 }}
rules:
  - apiGroups: ["cert-manager.io"]
    resources: ["issuers"]
    verbs: ["get"]
---
kind: Role
metadata:
  name: {{ template "cert-manager.fullname" . }}:leaderelection
{{- end }}
"""
WEBHOOK = """
kind: ValidatingWebhookConfiguration
metadata:
  name: {{ include "webhook.fullname" . }}
  annotations:
    cert-manager.io/inject-ca-from-secret: {{ printf "%s-ca" (include "webhook.fullname" .) | quote }}
webhooks:
  - name: webhook.cert-manager.io
    {{- with .Values.webhook.validatingWebhookConfiguration.namespaceSelector }}
    namespaceSelector:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    clientConfig:
      {{- if .Values.webhook.url.host }}
      url: https://{{ .Values.webhook.url.host }}/validate
      {{- else }}
      service:
        name: {{ template "webhook.fullname" . }}
        namespace: {{ include "cert-manager.namespace" . }}
        path: /validate
      {{- end }}
"""


@pytest.fixture
def tools(tmp_path: Path) -> dict[str, Path]:
    """Give folders like those of the definitions and of the chart, with less in them."""
    found = {name: tmp_path / name for name in ("cert-manager-manifests", "cert-manager-chart")}
    for folder in found.values():
        folder.mkdir()
    definition = {"kind": "CustomResourceDefinition", "metadata": {"name": "issuers.cert-manager.io"}, "spec": {}}
    (found["cert-manager-manifests"] / "issuers.yaml").write_text(yaml.safe_dump(definition))
    (found["cert-manager-chart"] / "rbac.yaml").write_text(ROLES)
    (found["cert-manager-chart"] / "webhook.yaml").write_text(WEBHOOK)
    return found


def test_templates_are_read_without_their_choices(tools: dict[str, Path]) -> None:
    """Of the chart remain the names of its defaults, what is called in the cluster, and whose CA is injected."""
    (role_kind, role), (hook_kind, hooks) = chart.objects(tools["cert-manager-chart"])
    assert (role_kind, hook_kind) == (kinds.CLUSTER_ROLE, VALIDATING_WEBHOOK_CONFIGURATION)
    assert role["metadata"]["name"] == "cert-manager-controller-issuers"
    assert role["rules"] == [{"apiGroups": ["cert-manager.io"], "resources": ["issuers"], "verbs": ["get"]}]
    assert hooks["metadata"]["annotations"] == {
        "cert-manager.io/inject-ca-from-secret": "cert-manager/cert-manager-webhook-ca"
    }
    (hook,) = hooks["webhooks"]
    service = {"name": "cert-manager-webhook", "namespace": "cert-manager", "path": "/validate"}
    assert hook["clientConfig"] == {"service": service}
    assert hook["namespaceSelector"]["matchExpressions"][0]["key"] == "cert-manager.io/disable-validation"


class Cluster:
    """An API server with what the operator has made."""

    def __init__(self) -> None:
        self.made: dict[tuple[str, str], Any] = {}

    def apply(self, kind: Kind, body: Any) -> None:
        """Keep an object."""
        meta = {"uid": "1", "generation": 1, **body["metadata"]}
        self.made[kind.kind, body["metadata"]["name"]] = {**body, "metadata": meta}

    def set_status(self, kind: Kind, resource: Any, status: Any) -> None:
        """Change an object's status."""
        self.made[kind.kind, resource["metadata"]["name"]]["status"] = status


def operator(cluster: Cluster, tools: dict[str, Path]) -> tuple[CertManagerOperator, list[str]]:
    """Return the operator as it is once it has seen everything, and the list to which it writes its log."""
    lines: list[str] = []
    runtime: Any = SimpleNamespace(account=lambda _: cluster, settings=SimpleNamespace(tools=tools))
    logs: Any = SimpleNamespace(append=lambda _, line: lines.append(line))
    made = CertManagerOperator(runtime, logs, {"metadata": {"namespace": "cert-manager-operator", "name": "one"}})
    seen: dict[Kind, Any] = {
        kind: SimpleNamespace(get=lambda name, _=None, k=kind: cluster.made.get((k.kind, name)))
        for kind in (RESOURCE, kinds.DEPLOYMENT)
    }
    made.caches = seen
    return made, lines


def test_it_creates_its_resource_and_starts_the_three_programs(tools: dict[str, Path]) -> None:
    """The operator creates the CertManager, then what belongs to it, and says of each program whether it is there."""
    cluster = Cluster()
    found, _ = operator(cluster, tools)
    assert found.reconcile() is None
    assert [*cluster.made] == [(RESOURCE.kind, NAME)]
    assert found.reconcile() is None
    for name in cert_manager.DEPLOYMENTS.values():
        assert cluster.made["Deployment", name]["spec"]["template"]["spec"]["serviceAccountName"] == name
    assert cluster.made["CustomResourceDefinition", "issuers.cert-manager.io"]
    assert cluster.made[SERVICE.kind, chart.WEBHOOK]["spec"]["selector"] == {"app": chart.WEBHOOK}
    available = {"conditions": [{"type": "Available", "status": "True"}]}
    cluster.made["Deployment", chart.WEBHOOK]["status"] = available
    found.reconcile()
    conditions = cluster.made[RESOURCE.kind, NAME]["status"]["conditions"]
    said = {one["type"]: one["status"] for one in conditions if one["type"].endswith("Available")}
    assert said == {
        "cert-manager-controller-deploymentAvailable": "False",
        "cert-manager-webhook-deploymentAvailable": "True",
        "cert-manager-cainjector-deploymentAvailable": "False",
    }


def test_a_cluster_without_the_tool_says_so() -> None:
    """Where the cluster was started without cert-manager, the operator's log says so, and its kinds are not served."""
    cluster = Cluster()
    found, lines = operator(cluster, {})
    found.reconcile()
    found.reconcile()
    assert lines == [f"E {NO_TOOL}"]
    assert [*cluster.made] == [(RESOURCE.kind, NAME)]
