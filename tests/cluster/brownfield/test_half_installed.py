"""A cluster with operators that somebody began to install, or to remove, and left."""

from pathlib import Path

import pytest

from core.apis import kinds
from tests.cluster.brownfield.kit import Used, differing, names_in
from tests.support.lab import eventually
from tests.support.messages import has

pytestmark = pytest.mark.cluster

OPERATORS = Path(__file__).with_name("half_installed") / "operators.yaml"
SECOND_GROUP = "OperatorGroup/openshift-nmstate/openshift-nmstate"
POLICY = "ClusterPolicy/gpu-cluster-policy"


def test_half_installed_operators_are_repaired_and_adopted(used: Used) -> None:
    """Init names what each operator lacks; after that the stack adopts all of them, and installs what is missing."""
    used.run("./hpc sim up --stack nvaie-roce --name corp")
    used.create(OPERATORS)
    eventually(lambda: is_half_installed(used), "OLM has not begun")
    printed = used.run("./hpc init corp --kubeconfig .sim/corp/kubeconfig")
    plan = used.api.get(kinds.INSTALL_PLAN.path("nvidia-gpu-operator"))["items"][0]["metadata"]["name"]
    assert has(printed, "node_feature_discovery.namespace", "its OperatorGroup openshift-nfd-8d2hc")
    assert has(printed, "gpu.operator", "approval", f"oc -n nvidia-gpu-operator patch installplan {plan}")
    assert has(printed, "fabric.plugin.operator", "OperatorGroup global", "oc patch operatorgroup global")
    assert has(printed, "fabric.ports.operator", "2 OperatorGroups", "oc delete operatorgroup -n openshift-nmstate")

    # As the commands do that it prints.
    used.api.patch(kinds.INSTALL_PLAN.path("nvidia-gpu-operator", plan), {"spec": {"approved": True}})
    targets = {"spec": {"targetNamespaces": ["nvidia-network-operator"]}}
    used.api.patch(kinds.OPERATOR_GROUP.path("nvidia-network-operator", "global"), targets)
    used.api.request("DELETE", kinds.OPERATOR_GROUP.path("openshift-nmstate", "openshift-nmstate"))
    used.installed()
    assert "half-installed" not in used.run("./hpc init corp --kubeconfig .sim/corp/kubeconfig --force")

    used.edit(decide)
    before = used.everything()
    used.run("./hpc state adopt --stack corp --yes")
    assert {*used.settings["adopted"]} == names_in(OPERATORS) - {SECOND_GROUP}
    assert used.diff()[1] <= {"create", "same"}
    used.run("./hpc up --stack corp")
    after = used.everything()
    assert differing(before, after) == set()

    used.edit(lambda platform: platform["gpu"].update(mig="single"))
    used.run("./hpc up --stack corp")
    assert differing(after, used.everything()) == {POLICY}


def is_half_installed(used: Used) -> bool:
    """Return whether OLM has come as far as it can."""
    versions = used.api.get(kinds.CLUSTER_SERVICE_VERSION.path("nvidia-network-operator"))["items"]
    phases = [each.get("status", {}).get("phase") for each in versions]
    return phases == ["Failed"] and bool(used.api.get(kinds.INSTALL_PLAN.path("nvidia-gpu-operator"))["items"])


def decide(platform: dict[str, object]) -> None:
    """Name the machine, have its ports named, and leave the example's data out."""
    nodes, tenants = platform["nodes"], platform["tenants"]
    assert isinstance(nodes, list)
    assert isinstance(tenants, list)
    for node in nodes:
        node.update({"machine": "dgx-a100"} if node["name"].startswith("dgx") else {})
    tenants[0].pop("volumes")
    # On a cluster in use `init` proposes no tuning.
    platform |= {"machine_config_pool": "gpu", "tuning": {"rail_names": True}}
