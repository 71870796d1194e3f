"""The check of lost nodes as stacks declare it: its limit, what it comes after, and what agents tolerate."""

from typing import Any

import pytest

from stacks.loading.settings import parse
from stacks.resolved.node_health import healthy_at_least
from tests.support.recorded import before, built, of_kind, only_object, spec
from tests.support.stack_settings import changed, data

NAMESPACE = "openshift-workload-availability"
OPERATORS: dict[str, Any] = {"node_health_check": {}, "self_node_remediation": {}}


def declaring(stack: str, **settings: Any) -> dict[str, Any]:
    """Return the settings of a stack with a check of lost nodes."""
    operators = (data(stack).get("operators") or {}) | OPERATORS
    return changed(stack, **({"operators": operators, "node_health": {}} | settings))


@pytest.mark.parametrize(
    ("stack", "settings", "nodes", "healthy"),
    [
        # A tenth, and at least one.
        ("pytorch", {}, 2, 1),
        ("h200-infiniband", {}, 4, 3),
        ("superpod-a100", {}, 140, 126),
        ("superpod-a100", {"node_health": {"min_healthy": "51%"}}, 140, 72),
        ("superpod-a100", {"node_health": {"max_unhealthy": "1%"}}, 140, 138),
    ],
)
def test_few_may_be_lost_at_the_same_time(stack: str, settings: dict[str, Any], nodes: int, healthy: int) -> None:
    """Without a limit of its own a stack allows a tenth of its nodes to be lost, at least one."""
    parsed = parse(declaring(stack, **settings), "test")
    assert (len(parsed.gpu_nodes), healthy_at_least(parsed)) == (nodes, healthy)


def test_a_switch_has_more_nodes_than_may_be_lost() -> None:
    """Where a switch has few nodes, fewer than these may be lost: a fault of it restarts none."""
    content = declaring("superpod-a100")
    *others, machines = content["nodes"]
    assert machines["name"] == "dgx[001-140].pod.example.com"
    content["nodes"] = [
        *others,
        *(
            {**machines, "name": f"dgx[{nodes}].pod.example.com", "topology": {"leaf": leaf}}
            for nodes, leaf in (("001-004", "small"), ("005-140", "large"))
        ),
    ]
    assert healthy_at_least(parse(content, "test")) == 140 - 3


def test_the_check_comes_after_its_operators() -> None:
    """Both operators are installed before the check, and the nodes have the label that it selects."""
    recorded = {item.urn: item for item in built(declaring("h200-infiniband"))}
    check = only_object(recorded.values(), "NodeHealthCheck")
    earlier = list(before(check, recorded))
    versions = [item.name for item in of_kind(earlier, "ClusterServiceVersionPatch")]
    assert {"node-health-check-version", "self-node-remediation-version"} <= {*versions}
    assert {label for item in of_kind(earlier, "NodePatch") for label in item.inputs["metadata"]["labels"]} >= {
        *spec(recorded.values(), "NodeHealthCheck")["selector"]["matchLabels"]
    }
    groups = of_kind(recorded.values(), "OperatorGroup")
    assert len([item for item in groups if item.inputs["metadata"]["namespace"] == NAMESPACE]) == 1


def test_agents_tolerate_the_taints_of_every_pool() -> None:
    """Taints of pools are those that agents tolerate, as an agent on each node is what restarts it."""
    recorded = built(declaring("mixed"))
    (config,) = of_kind(recorded, "SelfNodeRemediationConfigPatch")
    expected = {"key": "dedicated", "operator": "Equal", "value": "training", "effect": "NoSchedule"}
    assert config.inputs["spec"]["customDsTolerations"] == [expected]


def test_operators_that_the_cluster_has_are_used() -> None:
    """Where the cluster has the operators, the stack declares the check and its template alone."""
    installed = {name: {"installed": True} for name in OPERATORS}
    recorded = built(declaring("h200-infiniband", operators=installed))
    packages = {item.inputs["spec"]["name"] for item in of_kind(recorded, "Subscription")}
    assert not packages & {"node-healthcheck-operator", "self-node-remediation"}
    assert spec(recorded, "NodeHealthCheck")["remediationTemplate"]["namespace"] == NAMESPACE
