"""Policies for the nodes' network."""

import json
from typing import Any

import pytest

from components.base import waits
from components.fabric import nmstate
from components.fabric.bond import Bond, BondArgs
from tests.support.declared import declared, only
from toolkit.simulator import names
from toolkit.simulator.actors.api import stated
from toolkit.simulator.actors.nmstate import enacted, judged, mtus, operands, trouble
from toolkit.simulator.provider.observations import Seen
from toolkit.simulator.provider.wait_annotation import wait_rule


def node(*interfaces: str) -> dict[str, Any]:
    """Return a node with these interfaces, or one of which nothing is known."""
    marks = {names.INTERFACES: json.dumps(interfaces)} if interfaces else {}
    return {"metadata": {"name": "dgx01", "annotations": marks}}


def policy(*ports: str, **changed: Any) -> dict[str, Any]:
    """Return the policy of our own bond."""
    args = BondArgs(node_selector={"a": "b"}, ports=ports, **changed)
    return only(declared(lambda: Bond("bond", args)), "NodeNetworkConfigurationPolicy")


def test_a_bond_is_made_of_ports_that_are_there() -> None:
    """A bond needs ports that the node has, by their names of now."""
    assert trouble(policy("rail0", "rail1"), node("rail0", "rail1")) is None
    said = str(trouble(policy("rail0", "ens1"), node("rail0", "rail1")))
    assert said.startswith("error reconciling NodeNetworkConfigurationPolicy on node dgx01 at desired state apply:")
    assert "ens1" in said


def test_a_port_may_be_an_interface_of_the_policy_itself() -> None:
    """A bond may have a VLAN of the same policy."""
    made = policy("rail0", "rail1")
    made["spec"]["desiredState"]["interfaces"][0]["link-aggregation"]["port"] = ["vlan7", "rail0"]
    made["spec"]["desiredState"]["interfaces"].append({"name": "vlan7", "type": "vlan", "state": "up"})
    assert trouble(made, node("rail0", "rail1")) is None


def test_ports_get_the_mtu_of_the_policy() -> None:
    """A policy gives its MTU to the bond and to the ports."""
    assert mtus(policy("rail0", "rail1", mtu=9000)) == {"bond0": 9000, "rail0": 9000, "rail1": 9000}


def test_of_an_unknown_machine_nothing_is_refused() -> None:
    """On machines without documented ports any name is accepted."""
    assert trouble(policy("ens1", "ens2"), node()) is None


@pytest.mark.parametrize(
    ("counts", "true", "message"),
    [
        ((2, 2, 0, 0), {"Available"}, "2/2 nodes successfully configured"),
        ((2, 0, 1, 1), {"Degraded"}, "1/2 nodes failed to configure, 1 nodes aborted configuration"),
        ((2, 1, 0, 0), {"Progressing"}, "Policy is progressing 1/2 nodes finished"),
        ((0, 0, 0, 0), {"Ignored"}, "Policy does not match any node"),
    ],
)
def test_a_policy_is_judged_in_the_fields_words(counts: tuple[int, ...], true: set[str], message: str) -> None:
    """A policy is Available when all its nodes are; it has one at least."""
    found = judged(*counts)
    assert {kind for kind, (status, _, _) in found.items() if status == "True"} == true
    assert message in {words for _, _, words in found.values()}


@pytest.mark.parametrize(
    ("conditions", "over"),
    [
        (judged(2, 2, 0, 0), True),
        (judged(2, 1, 0, 0), False),
        (judged(0, 0, 0, 0), False),
        # What operators before the condition Ignored say of a policy that no node is for.
        ({"Available": ("True", "NoMatchingNode", "Policy does not match any node")}, False),
    ],
)
def test_our_wait_ends_when_nodes_are_configured(conditions: dict[str, tuple[str, str, str]], over: bool) -> None:
    """The platform's wait ends when all selected nodes are configured, and not where none is selected."""
    rule = wait_rule({"metadata": {"annotations": waits.wait_for(nmstate.CONFIGURED, timeout=60)}})
    assert rule is not None
    live = {"status": {"conditions": stated({}, conditions)}}
    assert rule(Seen(live)).ready == over


def test_an_enactment_is_in_one_state() -> None:
    """A node's conditions exclude each other."""
    found = enacted("Failing", "FailedToConfigure", "why")
    assert [kind for kind, (status, _, _) in found.items() if status == "True"] == ["Failing"]
    assert found["Failing"][2] == "why"


def test_agents_bear_the_taints_that_the_object_names() -> None:
    """Agents tolerate the taints of GPU nodes."""
    taint = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    resource = {"metadata": {"generation": 3}, "spec": {"tolerations": [taint], "nodeSelector": {"a": "b"}}}
    agents = operands("openshift-nmstate", resource)[-1][1]["spec"]["template"]["spec"]
    assert taint in agents["tolerations"]
    assert agents["nodeSelector"] == {"a": "b"}
