"""docs/guide/existing-cluster.md, walked on a cluster whose operators and teams were set up in the console."""

import os

import pytest

from core.apis import kinds, names
from tests.cluster.brownfield.kit import SETTINGS, Live, Used, differing, names_in
from tests.support.messages import has
from tests.support.page_blocks import Block, blocks, walked
from tests.support.recorded import ROOT
from toolkit.engine import tools

pytestmark = pytest.mark.cluster

PAGE = ROOT / "docs" / "guide" / "existing-cluster.md"
POLICY, QUOTA = "ClusterPolicy/gpu-cluster-policy", "ResourceQuota/vision/team-quota"
OWN = {"ConfigMap/nvidia-gpu-operator/time-slicing"}
"""What users have and no stack declares."""


def run(block: Block, used: Used) -> str:
    """Run a block of the page."""
    assert block.info == "sh", "a block that nobody runs"
    kubectl = tools.find("kubectl").parent
    outside = {key: value for key, value in os.environ.items() if not key.startswith(("PULUMI_", "HPC_SIM"))}
    return walked(block.text, used.checkout, {**outside, "PATH": f"{kubectl}:{os.environ['PATH']}"})


def test_an_existing_cluster_stays_as_it_is(used: Used) -> None:
    """After init and adopt nothing changes; an update touches the objects of changed settings alone."""
    before: Live = {}
    # The page's settings of another cluster are Helm's, which test_helm.py compares.
    for block in (block for block in blocks(PAGE) if block.info != "yaml"):
        printed = run(block, used)
        if "./hpc init" in block.text:
            before, found = used.everything(), used.settings
            assert found["node_feature_discovery"]["subscription"] == "nfd-console"
            assert found["gpu"]["operator"]["operator_group"] == "nvidia-gpu-operator-x7k2p"
            assert not {"tuning", "mpi_operator", "pull_secret"} & found.keys()
            assert (found["gpu"]["mig"], [each["namespace"] for each in found["tenants"]]) == ("single", ["vision"])
        if "./hpc state adopt" in block.text:
            assert differing(before, used.everything()) == set()
            assert {*used.settings["adopted"]} == names_in(*PAGE.with_suffix("").glob("*.yaml")) - OWN
        if "|| true" in block.text:
            assert "gpu-operator-closed" in printed
            assert used.diff()[1] <= {"create", "same"}
        if "./hpc up" in block.text:
            after = used.everything()
            assert differing(before, after) == {POLICY}
            rest = [{**each[POLICY]["spec"], "toolkit": None} for each in (before, after)]
            assert rest[0] == rest[1]
            used.edit(lambda platform: platform["tenants"][0].update(gpu_quota=8))
            used.run("./hpc up --stack corp")
            assert differing(after, used.everything()) == {QUOTA}
            another_machine_is_refused(used)
    assert before
    assert not (used.checkout / SETTINGS).exists()


def another_machine_is_refused(used: Used) -> None:
    """Let a machine of another team join, which the ClusterPolicy would reach: it is refused until it is listed."""
    name = "render-1"
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {names.GPU_FEATURES[0]: "true"}}}
    used.api.request("POST", kinds.NODE.path(), node)
    for command in ("diff", "pulumi preview", "up"):
        assert has(used.run(f"! ./hpc {command} --stack corp"), name, "cluster.shared_nodes")
    used.change(f"cluster: {{shared_nodes: [{name}]}}")
    assert has(used.run("./hpc diff --stack corp"), name)
