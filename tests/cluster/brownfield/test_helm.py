"""A cluster whose GPU Operator is Helm's, and where others have set limits and SCCs for a team."""

from pathlib import Path

import pytest
import yaml

from core.apis import kinds
from tests.cluster.brownfield.kit import Used, differing
from tests.support.messages import has
from tests.support.page_blocks import blocks
from tests.support.recorded import ROOT

pytestmark = pytest.mark.cluster

OPERATORS, OBJECTS = (Path(__file__).with_name("helm") / name for name in ("operators.yaml", "objects.yaml"))
PAGE = ROOT / "docs" / "guide" / "existing-cluster.md"
AS_IT_IS = """
machine_config_pool: worker
tuning: null
fabric: {kind: ethernet, interface: eth0}
mpi_operator: null
pull_secret: null
"""
ADOPTED = {
    *("Namespace/openshift-nfd", "OperatorGroup/openshift-nfd/openshift-nfd-c4w9z", "Subscription/openshift-nfd/nfd"),
    *("NodeFeatureDiscovery/openshift-nfd/nfd-instance", "Namespace/vision", "ResourceQuota/vision/gpus"),
}


def test_what_helm_and_others_manage_stays(used: Used) -> None:
    """Nothing of a release is declared or changed; what decides about the team's pods is shown, and left alone."""
    used.run("./hpc sim up --stack nvaie-roce --name corp")
    used.set_up(OPERATORS, OBJECTS, gpu_nodes=4)
    printed = used.run("./hpc init corp --kubeconfig .sim/corp/kubeconfig")
    assert has(printed, "gpu.operator", "the settings are valid")
    (page,) = (yaml.safe_load(block.text)["gpu"] for block in blocks(PAGE) if block.info == "yaml")
    assert used.settings["gpu"] == page | {"gds": False, "monitoring": None}
    assert page["operator"]["installed"] is True

    used.change(AS_IT_IS)
    before = used.everything()
    used.run("./hpc state adopt --stack corp --yes")
    assert {*used.settings["adopted"]} == ADOPTED
    printed, operations = used.diff()
    assert operations <= {"create", "same"}
    assert has(printed, "ResourceQuota vision/object-counts", "pods 0 of 40")
    assert has(printed, "LimitRange vision/containers", "Container max memory 512Gi")
    assert has(printed, "RoleBinding vision/use-notebooks", "SCC vision-notebooks", "system:serviceaccounts:vision")
    assert "vision/admins" not in printed
    used.run("./hpc up --stack corp")
    assert differing(before, used.everything()) == set()

    before = used.everything()
    used.edit(lambda platform: platform["tenants"][0].update(gpu_quota=8))
    used.run("./hpc up --stack corp")
    assert differing(before, used.everything()) == {"ResourceQuota/vision/gpus"}
    assert used.get(kinds.RESOURCE_QUOTA, "gpus", "vision")["spec"]["hard"] == {
        "requests.nvidia.com/gpu": "8",
        "limits.memory": "4Ti",
    }
