"""Nodes with a faulty GPU on a small simulated cluster: what the operators for lost nodes do under our declarations."""

from collections.abc import Iterator
from typing import Any

import pytest

from components.base.scheduling import Toleration
from components.nodes.node_health import NAME, NodeHealthCheck, NodeHealthCheckArgs
from components.operators.olm_operator import OlmOperator, OlmOperatorArgs
from core.apis import kinds
from core.apis.names import GPU_NODE
from core.apis.operators import OPERATORS
from tests.cluster.declaring import Declared
from tests.support import platform
from tests.support.clusters import running
from tests.support.user import User
from toolkit.simulator import pods
from toolkit.simulator.actors.api import now
from toolkit.simulator.actors.self_node_remediation import CAPABLE, CORDON
from toolkit.simulator.cluster import ClusterSpec, NodeSpec

pytestmark = pytest.mark.cluster

NODES = ("dgx01", "dgx02", "dgx03")
TAINT = "dedicated"
FAULT = "GpuMemWatch"
SPEC = ClusterSpec(
    name="test-lost-nodes",
    nodes=(
        *(NodeSpec(name=name, taints=({"key": TAINT, "effect": "NoSchedule"},)) for name in NODES),
        NodeSpec(name="worker01"),
        NodeSpec(name="worker02"),
    ),
    release="current",
)


def operators() -> None:
    """Declare both operators in one namespace, as a stack does."""
    for name, shared in (("node_health_check", False), ("self_node_remediation", True)):
        recommended = OPERATORS[name].recommended
        assert recommended
        args = OlmOperatorArgs(
            namespace=recommended.namespace,
            package=OPERATORS[name].package,
            channel="stable",
            own_namespace_only=False,
            shared_namespace=shared,
        )
        OlmOperator(name, args)


def check() -> None:
    """Declare a check of the GPU nodes that lets one of them be lost."""
    args = NodeHealthCheckArgs.model_validate(
        {
            "node_labels": {GPU_NODE: "true"},
            "remediation_namespace": "openshift-workload-availability",
            "min_healthy": "2",
            "signs": [{"kind": "condition", "type": FAULT, "bad": "True", "seconds": 1}],
            "tolerations": [Toleration(key=TAINT, effect="NoSchedule")],
        }
    )
    NodeHealthCheck("node-health", args)


class Site(Declared):
    """The cluster with both operators, and a pod with a name of its own on one of its GPU nodes."""

    def set_fault(self, node: str, status: str) -> None:
        """Set the condition of a node's GPUs, as NVSentinel does."""
        others = [each for each in self.node(node)["status"]["conditions"] if each["type"] != FAULT]
        fault = {"type": FAULT, "status": status, "reason": "Test", "lastTransitionTime": now()}
        self.api.patch(kinds.NODE, node, {"status": {"conditions": [*others, fault]}}, sub="status")

    def node(self, name: str) -> dict[str, Any]:
        """Return a node."""
        return self.api.get(kinds.NODE, name)

    def taints(self, node: str) -> set[str]:
        """Return the keys of a node's taints."""
        return {taint["key"] for taint in self.node(node)["spec"].get("taints") or []}

    @property
    def status(self) -> dict[str, Any]:
        """What the check reports."""
        status: dict[str, Any] = self.api.get(kinds.NODE_HEALTH_CHECK, NAME)["status"]
        return status

    def remedied(self, node: str) -> bool:
        """Return whether the remediation of a node has succeeded."""
        kind, namespace = kinds.SELF_NODE_REMEDIATION, "openshift-workload-availability"
        return bool(self.api.condition(kind, node, namespace, "Succeeded"))

    def place(self) -> str:
        """Return the node on which the pod runs, empty while it runs on none."""
        pod = self.api.find(kinds.POD, "trainer-0", "default")
        return pods.node_name(pod) if pod and pods.runs(pod) else ""


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """Run the cluster."""
    with running(SPEC) as started:
        made = Site(User.of(started.kubeconfig))
        for node in NODES:
            made.api.patch(kinds.NODE, node, {"metadata": {"labels": {GPU_NODE: "true"}}})
        made.declare(operators)
        made.declare(check)
        for node in NODES:
            made.api.eventually(lambda name=node: CAPABLE in pods.annotations(made.node(name)))  # type: ignore[misc]
        container = {"name": "rank", "image": "example.com/train:1"}
        pod = {"nodeSelector": {GPU_NODE: "true"}, "tolerations": [{"key": TAINT, "operator": "Exists"}]}
        template = {"metadata": {"labels": {"app": "trainer"}}, "spec": {**pod, "containers": [container]}}
        made.api.apply(
            kinds.STATEFUL_SET,
            platform.obj(
                kinds.STATEFUL_SET,
                "trainer",
                "default",
                spec={"serviceName": "trainer", "selector": {"matchLabels": {"app": "trainer"}}, "template": template},
            ),
        )
        yield made


def test_pods_leave_a_node_that_is_remedied(site: Site) -> None:
    """The node is cordoned, its pod starts elsewhere under its name, and a healthy node takes pods again."""
    node = site.api.eventually(site.place)
    site.set_fault(node, "True")
    elsewhere = site.api.eventually(lambda: (place := site.place()) != node and place)
    assert elsewhere in NODES
    site.api.eventually(lambda: site.remedied(node))
    assert (site.status["phase"], site.status["healthyNodes"]) == ("Remediating", len(NODES) - 1)
    assert site.taints(node) == {TAINT, CORDON["key"]}
    site.set_fault(node, "False")
    site.api.eventually(lambda: site.taints(node) == {TAINT})
    site.api.eventually(lambda: site.status["phase"] == "Enabled" and site.status["healthyNodes"] == len(NODES))


def test_a_fault_of_a_switch_restarts_nothing(site: Site) -> None:
    """While more nodes are lost than the check allows, none is remedied, and the check names them."""
    for node in NODES[1:]:
        site.set_fault(node, "True")
    site.api.eventually(lambda: [each["name"] for each in site.status["unhealthyNodes"]] == [*NODES[1:]])
    assert site.status["healthyNodes"] == 1
    site.api.never(lambda: site.api.list(kinds.SELF_NODE_REMEDIATION)["items"])
    for node in NODES[1:]:
        site.set_fault(node, "False")
    site.api.eventually(lambda: site.status["healthyNodes"] == len(NODES))
