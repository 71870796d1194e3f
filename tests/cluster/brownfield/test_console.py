"""docs/existing-cluster.md, walked on a cluster whose operators and teams were set up in the console."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from apis import kinds, names
from simulator import cluster, tools
from tests.engine.kit import Cluster
from tests.support import checkouts
from tests.support.clusters import FULL, require_tools
from tests.support.followed import Block, blocks, change, walked
from tests.support.messages import has
from tests.support.recorded import ROOT
from tests.support.user_objects import kind_of

pytestmark = pytest.mark.cluster

PAGE = ROOT / "docs" / "existing-cluster.md"
OBJECTS = tuple(PAGE.with_suffix("").glob("*.yaml"))
SETTINGS, HOME = "Pulumi.corp.yaml", ".sim/corp"
POLICY, QUOTA = "ClusterPolicy/gpu-cluster-policy", "ResourceQuota/vision/team-quota"
OWN = {"ConfigMap/nvidia-gpu-operator/time-slicing"}
"""What users have and no stack declares."""
_SERVERS = ("managedFields", "resourceVersion", "generation")
Live = dict[str, dict[str, Any]]


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Path]:
    """Give a checkout; the page's cluster goes in any case."""
    require_tools(FULL)
    root = checkouts.copy(tmp_path)
    yield root
    if (root / HOME).exists():
        cluster.clean(root / HOME)


def objects(checkout: Path) -> Live:
    """Return all that users have set up, as it is on the cluster, but for status and what the server counts."""
    api = Cluster(checkout / HOME / "kubeconfig", "hpc-sim-corp")
    found = {}
    for body in (each for file in OBJECTS for each in yaml.safe_load_all(file.read_text())):
        metadata = body["metadata"]
        live = api.request("GET", kind_of(body).path(metadata.get("namespace"), metadata["name"]))
        live.pop("status", None)
        live["metadata"] = {key: value for key, value in live["metadata"].items() if key not in _SERVERS}
        found["/".join(filter(None, (body["kind"], metadata.get("namespace"), metadata["name"])))] = live
    return found


def settings(checkout: Path) -> Any:
    """Return the settings of the stack."""
    return yaml.safe_load((checkout / SETTINGS).read_text())["config"]["hpc:platform"]


def run(block: Block, checkout: Path) -> str:
    """Run a block of the page."""
    assert block.info == "sh", "a block that nobody runs"
    kubectl = tools.find("kubectl").parent
    outside = {key: value for key, value in os.environ.items() if not key.startswith(("PULUMI_", "HPC_SIM"))}
    return walked(block.text, checkout, {**outside, "PATH": f"{kubectl}:{os.environ['PATH']}"})


def operations(checkout: Path, file: Path) -> set[str]:
    """Return what an update would do with objects; policies may refuse it."""
    kubectl = {key: value for key, value in os.environ.items() if not key.startswith(("PULUMI_", "HPC_SIM"))}
    walked(f"./hpc diff --stack corp --json {file} || true", checkout, kubectl)
    return {each["op"] for each in json.loads(file.read_text())["changes"]}


def test_an_existing_cluster_stays_as_it_is(checkout: Path, tmp_path: Path) -> None:
    """After init and adopt nothing changes; an update touches the objects of changed settings alone."""
    before: Live = {}
    for block in blocks(PAGE):
        printed = run(block, checkout)
        if "./hpc init" in block.text:
            before = objects(checkout)
            found = settings(checkout)
            assert found["node_feature_discovery"]["subscription"] == "nfd-console"
            assert found["gpu"]["operator"]["operator_group"] == "nvidia-gpu-operator-x7k2p"
            assert not {"tuning", "mpi_operator", "pull_secret"} & found.keys()
            assert (found["gpu"]["mig"], [each["namespace"] for each in found["tenants"]]) == ("single", ["vision"])
        if "./hpc adopt" in block.text:
            assert objects(checkout) == before
            assert {*settings(checkout)["adopted"]} == {*before} - OWN
        if "|| true" in block.text:
            assert "gpu-operator-closed" in printed
            assert operations(checkout, tmp_path / "review.json") <= {"create", "same"}
        if "./hpc up" in block.text:
            after = objects(checkout)
            assert {name for name in before if after[name] != before[name]} == {POLICY}
            rest = [{**each[POLICY]["spec"], "toolkit": None} for each in (before, after)]
            assert rest[0] == rest[1]
            lower_the_quota(checkout)
            assert {name for name, live in objects(checkout).items() if live != after[name]} == {QUOTA}
            another_machine_is_refused(checkout)
    assert before
    assert not (checkout / SETTINGS).exists()


def another_machine_is_refused(checkout: Path) -> None:
    """Let a machine of another team join, which the ClusterPolicy would reach: it is refused until it is listed."""
    name = "render-1"
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {names.GPU_FEATURES[0]: "true"}}}
    Cluster(checkout / HOME / "kubeconfig", "hpc-sim-corp").request("POST", kinds.NODE.path(), node)
    for command in ("diff", "preview", "up"):
        assert has(walked(f"! ./hpc {command} --stack corp", checkout), name, "cluster.shared_nodes")
    change(checkout / SETTINGS, f"cluster: {{shared_nodes: [{name}]}}")
    assert has(walked("./hpc diff --stack corp", checkout), name)


def lower_the_quota(checkout: Path) -> None:
    """Change one setting, and update."""
    (tenant,) = settings(checkout)["tenants"]
    content = yaml.safe_load((checkout / SETTINGS).read_text())
    content["config"]["hpc:platform"]["tenants"] = [{**tenant, "gpu_quota": 8}]
    (checkout / SETTINGS).write_text(yaml.safe_dump(content, sort_keys=False))
    walked("./hpc up --stack corp", checkout)
