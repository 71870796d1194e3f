"""Which nodes count as lost, and how they are remedied."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.nodes.node_health import NAME, NodeHealth, NodeHealthCheck, NodeHealthCheckArgs
from core.apis.names import TIMEOUT_SECONDS, WAIT_FOR
from tests.conformance.schema import expect_conformity
from tests.support.declared import Manifest, declared, faults, only

NAMESPACE = "openshift-workload-availability"
GIVEN = {"node_labels": {"hpc.pulumi/gpu-node": "true"}, "remediation_namespace": NAMESPACE, "min_healthy": "3"}
UNHEARD = {"type": "Ready", "status": "Unknown", "duration": "300s"}


def build(**changed: Any) -> list[Manifest]:
    """Return what the component declares; rules find nothing in it."""
    args = NodeHealthCheckArgs.model_validate(GIVEN | changed)
    found = declared(lambda: NodeHealthCheck("node-health", args))
    assert faults(found) == []
    return found


def test_objects_have_the_shape_of_their_definitions() -> None:
    """The check and its template match the definitions; the check names the template and waits to be enabled."""
    found = build(strategy="ResourceDeletion", timeout=77)
    check, template = (only(found, kind) for kind in ("NodeHealthCheck", "SelfNodeRemediationTemplate"))
    expect_conformity(check)
    expect_conformity(template)
    assert template["spec"] == {"template": {"spec": {"remediationStrategy": "ResourceDeletion"}}}
    reference = check["spec"]["remediationTemplate"]
    assert (reference["kind"], reference["name"], reference["namespace"]) == (template["kind"], NAME, NAMESPACE)
    annotations = check["metadata"]["annotations"]
    assert '"Disabled" && @.status=="False"' in annotations[WAIT_FOR]
    assert annotations[TIMEOUT_SECONDS] == "77"


def test_a_kubelet_that_is_not_heard_of_is_the_sign_by_default() -> None:
    """A node is lost when it is not Ready, or nothing is heard of it, for five minutes; nodes are the stack's own."""
    spec = only(build(), "NodeHealthCheck")["spec"]
    assert spec["selector"] == {"matchLabels": GIVEN["node_labels"]}
    assert spec["unhealthyConditions"] == [UNHEARD | {"status": "False"}, UNHEARD]
    assert spec["minHealthy"] == 3
    assert not {"maxUnhealthy", "stormCooldownDuration"} & spec.keys()


def test_signs_become_conditions() -> None:
    """Conditions of well-known parts go by their names, others by type and status."""
    signs = [
        {"kind": "node-problem-detector", "seconds": 60},
        {"kind": "nvsentinel", "seconds": 30},
        {"kind": "condition", "type": "GpuXidWatch", "bad": "True", "seconds": 10},
    ]
    found = only(build(signs=signs, cooldown=600, min_healthy="90%"), "NodeHealthCheck")
    expect_conformity(found)
    assert [(entry["type"], entry["status"], entry["duration"]) for entry in found["spec"]["unhealthyConditions"]] == [
        ("KernelDeadlock", "True", "60s"),
        ("ReadonlyFilesystem", "True", "60s"),
        ("GpuDriverWatch", "True", "30s"),
        ("GpuMemWatch", "True", "30s"),
        ("GpuNvlinkWatch", "True", "30s"),
        ("GpuPcieWatch", "True", "30s"),
        ("GpuXidWatch", "True", "10s"),
    ]
    assert (found["spec"]["minHealthy"], found["spec"]["stormCooldownDuration"]) == ("90%", "600s")


def test_agents_tolerate_the_taints_of_the_nodes() -> None:
    """Without an agent on it no node restarts: its taints are tolerated, in the operator's own object."""
    assert not [manifest for manifest in build() if manifest["kind"] == "SelfNodeRemediationConfig"]
    config = only(build(tolerations=[{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]), "SelfNodeRemediationConfig")
    expect_conformity(config)
    assert (config["metadata"]["name"], config["metadata"]["namespace"]) == ("self-node-remediation-config", NAMESPACE)
    toleration = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    assert config["spec"] == {"customDsTolerations": [toleration]}


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"min_healthy": "3", "max_unhealthy": "1"}, "min_healthy 3 and max_unhealthy 1 exclude each other; give one"),
        (
            {"signs": [{"kind": "kubelet"}, {"kind": "condition", "type": "Ready", "bad": "Unknown"}]},
            "condition Ready=Unknown is given twice",
        ),
        ({"min_healthy": "0"}, "min_healthy"),
        ({"signs": []}, "signs"),
    ],
)
def test_contradictions_are_refused(settings: dict[str, Any], problem: str) -> None:
    """Two limits, a condition twice, and a limit or signs that are none are refused."""
    with pytest.raises(ValidationError, match=problem):
        NodeHealth.model_validate(settings)


def test_a_check_has_a_limit() -> None:
    """Without a limit a fault of a switch would restart all nodes."""
    with pytest.raises(ValidationError, match="min_healthy is missing"):
        build(min_healthy=None)
