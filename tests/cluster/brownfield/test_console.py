"""A cluster whose operators and teams were set up in the console: `init`, `adopt` and `diff` leave it as it is."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from apis import kinds
from tests.engine.kit import Cluster
from tests.support.clusters import FULL, require_tools
from tests.support.lab import Lab, checkout, eventually
from tests.support.user_objects import created, kind_of

pytestmark = pytest.mark.cluster

FOLDER = Path(__file__).parent
NAME, SETTINGS = "corp", "Pulumi.corp.yaml"
KUBECONFIG = f".sim/{NAME}/kubeconfig"
CONTEXT = f"hpc-sim-{NAME}"
_SERVERS = ("managedFields", "resourceVersion", "generation")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Give a cluster of DGX A100 with operators and a team that no stack has."""
    require_tools(FULL)
    with checkout(tmp_path_factory.mktemp("console")) as made:
        made.works("sim", "up", "--stack", "nvaie-roce", "--name", NAME)
        try:
            cluster = Cluster(made.root / KUBECONFIG, CONTEXT)
            created(cluster, FOLDER / "console.yaml")
            eventually(lambda: served(cluster), "OLM does not install the operators")
            created(cluster, FOLDER / "samples.yaml")
            yield made
        finally:
            made.works("sim", "clean", "--name", NAME)


def served(cluster: Cluster) -> bool:
    """Whether both operators are installed."""
    subscriptions = cluster.request("GET", kinds.SUBSCRIPTION.path())["items"]
    return [each.get("status", {}).get("state") for each in subscriptions] == ["AtLatestKnown"] * 2


def objects(lab: Lab) -> dict[str, dict[str, Any]]:
    """Return all that users have set up, as it is on the cluster, but for status and what the server counts."""
    cluster = Cluster(lab.root / KUBECONFIG, CONTEXT)
    found = {}
    for file in ("console.yaml", "samples.yaml"):
        for body in yaml.safe_load_all((FOLDER / file).read_text()):
            metadata = body["metadata"]
            live = cluster.request("GET", kind_of(body).path(metadata.get("namespace"), metadata["name"]))
            live.pop("status", None)
            live["metadata"] = {key: value for key, value in live["metadata"].items() if key not in _SERVERS}
            found["/".join(filter(None, (body["kind"], metadata.get("namespace"), metadata["name"])))] = live
    return found


def change(lab: Lab, **changes: Any) -> None:
    """Change the settings of the stack; None removes one."""
    file = lab.root / SETTINGS
    content = yaml.safe_load(file.read_text())
    platform = content["config"]["hpc:platform"]
    platform |= changes
    content["config"]["hpc:platform"] = {key: value for key, value in platform.items() if value is not None}
    file.write_text(yaml.safe_dump(content, sort_keys=False))


def settings(lab: Lab) -> Any:
    """Return the settings of the stack."""
    return yaml.safe_load((lab.root / SETTINGS).read_text())["config"]["hpc:platform"]


def test_a_cluster_of_the_console_stays_as_it_is(lab: Lab, tmp_path: Path) -> None:
    """After init and adopt nothing changes; a change of a setting touches its object alone, and all else stays."""
    before = objects(lab)
    printed = lab.works("init", NAME, "--kubeconfig", KUBECONFIG, "--context", CONTEXT)
    assert "profile: dgx-a100" in printed
    made = settings(lab)
    assert made["node_feature_discovery"]["subscription"] == "nfd-console"
    assert made["gpu"]["operator"]["operator_group"] == "nvidia-gpu-operator-x7k2p"
    assert (made["gpu"]["mig"], [each["namespace"] for each in made["tenants"]]) == ("single", ["vision"])

    # The user's decisions: the machine, and none of what the example has beside.
    nodes = [{**each, **({"profile": "dgx-a100"} if "dgx" in each["name"] else {})} for each in made["nodes"]]
    none = dict.fromkeys(("tuning", "pull_secret", "mpi_operator", "machine_config_pool"))
    change(lab, nodes=nodes, fabric={"kind": "ethernet", "interface": "eth0"}, **none)
    lab.works("adopt", "--stack", NAME, "--yes")
    assert objects(lab) == before
    assert set(settings(lab)["adopted"]) == set(before) - {"ConfigMap/nvidia-gpu-operator/time-slicing"}

    file = tmp_path / "review.json"
    lab.hpc("diff", "--stack", NAME, "--json", str(file))
    review = json.loads(file.read_text())
    operations = {each["op"] for each in review["changes"]}
    assert operations <= {"create", "same"}
    assert "gpu-operator-closed" in json.dumps(review)

    # What the policies refuse: the team decides for the program's value of that field, and lowers its quota.
    extra = settings(lab)["extra"]
    del extra["ClusterPolicy/gpu-cluster-policy"]["spec"]["toolkit"]
    (tenant,) = settings(lab)["tenants"]
    change(lab, extra=extra, tenants=[{**tenant, "gpu_quota": 8}])
    lab.works("up", "--stack", NAME)
    after = objects(lab)
    changed = {name for name in before if after[name] != before[name]}
    assert changed == {"ClusterPolicy/gpu-cluster-policy", "ResourceQuota/vision/team-quota"}
    assert after["ResourceQuota/vision/team-quota"]["spec"]["hard"] == {"requests.nvidia.com/gpu": "8"}
    policies = (every["ClusterPolicy/gpu-cluster-policy"]["spec"] for every in (before, after))
    rest = [{key: value for key, value in spec.items() if key != "toolkit"} for spec in policies]
    assert rest[0] == rest[1]
