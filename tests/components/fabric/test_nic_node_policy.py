"""NicNodePolicies: adapter driver and RDMA resources of some nodes."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.fabric.network_operator import (
    NetworkOperator,
    NetworkOperatorArgs,
    NicNodePolicy,
    NicNodePolicyArgs,
    node_policy_spec,
)
from components.fabric.network_operator import spec as cluster_spec
from tests.components.kit import A100, DRIVER, PLUGIN, WHOLE
from tests.conformance.schema import expect_conformity
from tests.support.declared import declared, faults, only

SELECTOR = {"hpc.pulumi/pool": "former"}
COMMON = {"link_layer": "InfiniBand", "devices": A100, "shared": PLUGIN, "driver": DRIVER}


def of_pool(**changes: Any) -> NicNodePolicyArgs:
    """Return the arguments of a policy, changed."""
    return NicNodePolicyArgs.model_validate(COMMON | {"policy_name": "former", "node_selector": SELECTOR} | changes)


@pytest.mark.parametrize(
    "changes",
    [{}, {"driver": None, "tolerations": ()}, {"link_layer": "Ethernet", "host_devices": WHOLE}],
    ids=("driver", "plugin-alone", "roce"),
)
def test_it_has_the_shape_of_its_definition_and_passes_our_rules(changes: dict[str, Any]) -> None:
    """The policy matches its definition, and the policies have no finding."""
    found = declared(lambda: NicNodePolicy("network", of_pool(**changes)))
    assert faults(found) == []
    expect_conformity(only(found, "NicNodePolicy"))


def test_the_policy_of_the_cluster_has_no_part_that_those_of_nodes_have() -> None:
    """Driver and plugins are in NicNodePolicies alone, as the operator refuses a part that is in both."""
    args = NetworkOperatorArgs.model_validate(COMMON | {"node_policies": True})
    common = {"tolerations", "nodeSelector"}
    assert {*cluster_spec(args)} == {"tolerations", "nodeAffinity"}
    assert {*node_policy_spec(of_pool())} == {"ofedDriver", "rdmaSharedDevicePlugin", *common}
    expect_conformity(only(declared(lambda: NetworkOperator("network", args)), "NicClusterPolicy"))


def test_a_name_that_the_operator_refuses_is_refused() -> None:
    """The operator's webhook accepts 30 characters."""
    assert of_pool(policy_name="a" * 30)
    with pytest.raises(ValidationError, match="at most 30 characters"):
        of_pool(policy_name="a" * 31)
