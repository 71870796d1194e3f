"""Operators' objects that are not ready before anything is changed."""

from collections.abc import Sequence
from typing import Any

import pytest

from core.apis import kinds
from core.apis.kinds import Kind
from tests.support.messages import has
from tests.support.wait_objects import condition
from toolkit.cli.shared.cluster_client import RefusedError
from toolkit.cli.shared.preflight import operand_states
from toolkit.review.sentences import bare


def facts(kind: Kind, status: dict[str, Any]) -> list[str]:
    """Return the sentences about an object with a status."""
    found = {"metadata": {"name": "x", "namespace": "ns"}, "status": status}
    return [*map(bare, operand_states.sentences(lambda each: [found] if each == kind else []))]


@pytest.mark.parametrize(
    ("kind", "status", "parts"),
    [
        (
            kinds.CLUSTER_POLICY,
            {
                "state": "notReady",
                "conditions": [
                    condition("Ready", "False", "Error"),
                    condition("Error", "True", "OperandNotReady", "states not ready: [state-driver]"),
                ],
            },
            ("state notReady", "Error is True (OperandNotReady: states not ready: [state-driver])"),
        ),
        (kinds.CLUSTER_POLICY, {}, ("no state",)),
        (
            kinds.NIC_CLUSTER_POLICY,
            {"state": "notReady", "reason": "no nodes", "appliedStates": [{"name": "state-OFED", "state": "notReady"}]},
            ("state notReady", "no nodes", "state-OFED is notReady"),
        ),
        (
            kinds.NODE_FEATURE_DISCOVERY_V1,
            {"conditions": [condition("Available", "False", "Gone", "no workers"), condition("Degraded", "True")]},
            ("Available is False (Gone: no workers)", "Degraded is True"),
        ),
    ],
)
def test_what_is_not_ready_is_a_fact(kind: Kind, status: dict[str, Any], parts: Sequence[str]) -> None:
    """The sentence has kind, name, state and what the operator reports."""
    (said,) = facts(kind, status)
    assert has(said, f"{kind.kind} ns/x", "not ready already", *parts)


def test_what_is_ready_is_none() -> None:
    """An object that is ready is no fact, nor is one whose operator reports nothing in conditions."""
    assert facts(kinds.CLUSTER_POLICY, {"state": "ready"}) == []
    assert (
        facts(kinds.NODE_FEATURE_DISCOVERY_V1, {"conditions": [condition("Available"), condition("Degraded", "False")]})
        == []
    )
    assert facts(kinds.NMSTATE, {}) == []


def test_what_cannot_be_read_is_said() -> None:
    """A kind that the user may not list is not taken for ready."""

    def refuse(kind: Kind) -> list[dict[str, Any]]:
        if kind == kinds.CLUSTER_POLICY:
            raise RefusedError("refused", "", "403, forbidden")
        return []

    (said,) = operand_states.sentences(refuse)
    assert has(bare(said), "ClusterPolicy", "could not be determined", "403, forbidden")
