"""A disconnected cluster whose control plane is hosted, with operators of mirrors' catalogues under other names."""

import shutil
from pathlib import Path

import pytest

from core.apis import kinds
from tests.cluster.brownfield.kit import Used, differing
from tests.support.messages import has

pytestmark = pytest.mark.cluster

STACK, OPERATORS, OBJECTS = (
    Path(__file__).with_name("hosted") / name for name in ("Pulumi.hosted.yaml", "operators.yaml", "objects.yaml")
)
ADOPTED = {
    *("Namespace/gpus", "OperatorGroup/gpus/gpus-only", "Subscription/gpus/gpu-operator", "ClusterPolicy/gpus"),
    *("Namespace/speech", "ResourceQuota/speech/speech-gpus", "Namespace/vision", "ResourceQuota/vision/compute"),
}
GPU_OPERATOR = {
    "namespace": "gpus",
    "package": "gpu-operator-certified",
    "channel": "stable",
    "source": "cs-certified-operator-index-v4-20",
    "own_namespace_only": True,
    "subscription": "gpu-operator",
    "operator_group": "gpus-only",
}


def test_a_hosted_cluster_has_no_machine_configs(used: Used) -> None:
    """Nothing asks for MachineConfigs; operators are found by what they do, whatever names their objects have."""
    shutil.copy(STACK, used.checkout)
    used.run("./hpc sim up --stack hosted --name corp")
    assert used.get(kinds.MACHINE_CONFIG_POOL, "worker") is None
    for catalogue in used.api.get(kinds.CATALOG_SOURCE.path())["items"]:
        used.api.request("DELETE", kinds.CATALOG_SOURCE.path("openshift-marketplace", catalogue["metadata"]["name"]))
    used.set_up(OPERATORS, OBJECTS, gpu_nodes=2)
    printed = used.run("./hpc init corp --kubeconfig .sim/corp/kubeconfig")
    assert has(printed, "to review", "cluster")
    assert used.settings["cluster"]["hosted"]
    assert not {"machine_config_pool", "tuning"} & used.settings.keys()
    assert used.settings["node_feature_discovery"]["installed"]
    assert (used.settings["gpu"]["policy"], used.settings["gpu"]["operator"]) == ("gpus", GPU_OPERATOR)

    assert used.settings["fabric"]["kind"] == "ethernet"
    before = used.everything()
    used.run("./hpc state adopt --stack corp --yes")
    assert {*used.settings["adopted"]} == ADOPTED
    assert used.diff()[1] <= {"create", "same"}
    used.run("./hpc up --stack corp")
    after = used.everything()
    assert differing(before, after) == set()
    assert used.get(kinds.MACHINE_CONFIG_POOL, "worker") is None

    used.edit(lambda platform: platform["gpu"].update(mig="single"))
    used.run("./hpc up --stack corp")
    assert differing(after, used.everything()) == {"ClusterPolicy/gpus"}
