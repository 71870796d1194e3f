"""Remedies of lost nodes: what they need, and limits."""

from typing import Any

import pytest

from stacks.checks.node_health import warnings
from stacks.loading.settings import parse
from tests.support.stack_settings import changed, data, expect_message, expect_refusal

CERTIFICATES = data("mixed")["operators"]["cert_manager"]
REMEDYING = ("node_health_check", "self_node_remediation")
OPERATORS = {"cert_manager": CERTIFICATES, "jobset": {}, **{name: {} for name in REMEDYING}}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            {"operators": {key: OPERATORS[key] for key in ("cert_manager", "node_health_check")}},
            "node_health: needs operators.self_node_remediation; add `operators: {self_node_remediation: {}}`",
        ),
        ({"node_health": {"min_healthy": "100%"}}, "min_healthy 100% of 8 GPU nodes: … none would ever be remedied"),
        ({"node_health": {"max_unhealthy": "100%"}}, "max_unhealthy 100% of 8 GPU nodes: all may be lost, … lower it"),
    ],
)
def test_what_helps_no_node_is_refused(settings: dict[str, Any], expected: str) -> None:
    """A missing operator, and a limit that allows nothing or everything, are refused with what to do."""
    expect_refusal(changed("mixed", **settings), expected)


def test_one_node_has_no_healthy_other() -> None:
    """A check of one node could have no limit but none."""
    content = changed(
        "h200-infiniband", operators={name: {} for name in REMEDYING}, node_health={}, stages=[], suite=None
    )
    *others, machines = content["nodes"]
    content["nodes"] = [*others, machines | {"name": "dgx01.h200.example.com"}]
    expect_refusal(content, "node_health: none but the one GPU node could be healthy … leave it out")


@pytest.mark.parametrize(("seconds", "warned"), [(49, True), (50, False)])
def test_haste_is_warned_of(seconds: int, warned: bool) -> None:
    """A duration below that for which a kubelet may be silent restarts nodes for a short fault of the network."""
    signs = [{"kind": "kubelet", "seconds": seconds}]
    found = list(warnings(parse(changed("mixed", node_health={"signs": signs}), "test")))
    assert bool(found) is warned
    for warning in found:
        expect_message(warning, "node_health.signs: a node restarts 49 s … less than the 50 s … raise `seconds`")


def test_jobs_that_wait_longer_are_warned_of() -> None:
    """A job that leaves its pods on a lost node for longer than until it restarts waits for nothing."""
    content = data("mixed")
    content["stages"][0]["workloads"][0]["resilience"] = {"lost_after": 121}
    (warning,) = warnings(parse(content, "test"))
    expect_message(warning, "a node restarts 120 s … research/… for 121 s (resilience.lost_after); raise `seconds`, or")


def test_both_operators_share_a_namespace() -> None:
    """The second shares namespace and OperatorGroup of the first; a third that would create it is refused."""
    operators = parse(data("mixed"), "test").operators
    assert operators.self_node_remediation
    assert operators.self_node_remediation.operator_group == "node-healthcheck-operator"
    given = {**OPERATORS, "jobset": {"namespace": "openshift-workload-availability"}}
    expect_refusal(changed("mixed", operators=given), "operators.jobset.namespace … both create the namespace")
