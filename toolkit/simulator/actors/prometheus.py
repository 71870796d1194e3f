"""What the cluster's own Prometheus would scrape and evaluate: its configuration, targets and rules.

Source: openshift/cluster-monitoring-operator, assets/prometheus-k8s/prometheus.yaml and pkg/manifests: monitors and
rules of namespaces with the label openshift.io/cluster-monitoring=true, from 4.4 (by the operator's namespaces) on.
"""

import logging
from collections.abc import Iterable, Iterator
from typing import Any

import yaml

from core.apis import kinds
from core.apis.names import CLUSTER_MONITORING
from toolkit.simulator import pods
from toolkit.simulator.actors.api import SERVICE, Api, ApiError, Object
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.processes.ports import LOOPBACK

log = logging.getLogger(__name__)

RULES = "rules.yml"
_NODE_OF_POD = "__meta_kubernetes_pod_node_name"
"""Of the labels that a monitor may copy to its targets, the one that is simulated."""


class Prometheus:
    """Reads monitors and rules as its operator, and Services and pods with the rights that its account was given."""

    def __init__(self, runtime: Runtime, port: int) -> None:
        self._runtime = runtime
        self._operator: Api = runtime.identity("prometheus-operator")
        self._own: Api = runtime.identity("prometheus-k8s")
        self._address = f"{LOOPBACK}:{port}"

    def configuration(self) -> str:
        """Return a configuration file for a Prometheus on this machine, with OpenShift's intervals."""
        document = {
            "global": {"scrape_interval": "15s", "evaluation_interval": "30s"},
            "rule_files": [RULES],
            "scrape_configs": [
                {
                    "job_name": "simulated",
                    "http_sd_configs": [{"url": f"http://{self._address}/targets", "refresh_interval": "15s"}],
                },
                {
                    "job_name": "kube-state-metrics",
                    "honor_labels": True,
                    "metrics_path": "/kube-state-metrics/metrics",
                    "static_configs": [{"targets": [self._address]}],
                    "metric_relabel_configs": [{"action": "labeldrop", "regex": "instance"}],
                },
            ],
        }
        return yaml.safe_dump(document, sort_keys=False)

    def rules(self) -> str:
        """Return the rules of all PrometheusRules that it reads, as a rule file."""
        rules = self._monitored(kinds.PROMETHEUS_RULE)
        groups = [
            {**group, "name": f"{rule['metadata']['namespace']}/{rule['metadata']['name']}/{group['name']}"}
            for rule in rules
            for group in rule["spec"].get("groups") or []
        ]
        return yaml.safe_dump({"groups": groups}, sort_keys=False)

    def targets(self) -> list[Object]:
        """Return its targets in the form of HTTP service discovery; the path says which exporter it is."""
        nodes = [
            self._target(f"/nodes/{name}/metrics", job="node-exporter", instance=name, namespace="openshift-monitoring")
            for name in sorted(node["metadata"]["name"] for node in self._runtime.nodes.items())
        ]
        return [*nodes, *self._exporters()]

    def _target(self, path: str, **labels: str) -> Object:
        return {"targets": [self._address], "labels": {"__metrics_path__": path, **labels}}

    def _monitored(self, kind: kinds.Kind) -> list[Object]:
        labelled = self._operator.list(kinds.NAMESPACE, selector=f"{CLUSTER_MONITORING}=true")["items"]
        spaces = sorted(namespace["metadata"]["name"] for namespace in labelled)
        return [obj for space in spaces for obj in self._operator.list(kind, space)["items"]]

    def _exporters(self) -> Iterator[Object]:
        for monitor in self._monitored(kinds.SERVICE_MONITOR):
            try:
                yield from self._of_monitor(monitor)
            except ApiError as error:
                log.warning("%s: %s", monitor["metadata"]["name"], error)

    def _of_monitor(self, monitor: Object) -> Iterator[Object]:
        namespace, spec = monitor["metadata"]["namespace"], monitor["spec"]
        services = self._own.list(SERVICE, namespace, _selector(spec["selector"]))["items"]
        for service in services:
            selector = _selector({"matchLabels": service["spec"].get("selector") or {}})
            for pod in self._own.list(kinds.POD, namespace, selector)["items"] if selector else ():
                for endpoint in spec.get("endpoints") or []:
                    if pods.runs(pod):
                        yield self._of_pod(pod, service, endpoint)

    def _of_pod(self, pod: Object, service: Object, endpoint: Object) -> Object:
        meta, name = pod["metadata"], service["metadata"]["name"]
        ports = {port.get("name"): port["port"] for port in service["spec"]["ports"]}
        labels = {
            "job": name,
            "service": name,
            "instance": f"{(pod.get('status') or {}).get('podIP', '')}:{ports.get(endpoint.get('port'), '')}",
            "namespace": meta["namespace"],
            "pod": meta["name"],
            "container": pod["spec"]["containers"][0]["name"],
            "endpoint": str(endpoint.get("port", "")),
        }
        for step in endpoint.get("relabelings") or []:
            if step.get("sourceLabels") == [_NODE_OF_POD]:
                labels[step["targetLabel"]] = pods.node_name(pod)
        return self._target(f"/pods/{meta['namespace']}/{meta['name']}/metrics", **labels)


def _selector(selector: Object) -> str:
    pairs: Iterable[tuple[str, Any]] = (selector.get("matchLabels") or {}).items()
    return ",".join(f"{name}={value}" for name, value in pairs)
