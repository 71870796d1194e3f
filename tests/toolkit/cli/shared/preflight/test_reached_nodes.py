"""Nodes that are not the stack's, named and refused where the stack's operators would configure them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from core.apis import kinds, names
from tests.support.messages import has
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.preflight import reached_nodes
from toolkit.cli.shared.stack import Stack, read
from toolkit.review.sentences import bare

WORKER = {"node-role.kubernetes.io/worker": ""}
CPU = {**WORKER, "feature.node.kubernetes.io/cpu-model.vendor_id": "Intel"}
GPU = {**CPU, "feature.node.kubernetes.io/pci-10de.present": "true"}
CLASS = {**CPU, "feature.node.kubernetes.io/pci-0302_10de.present": "true"}
NODES, POOLS = kinds.NODE.path(), kinds.MACHINE_CONFIG_POOL.path()
DESIRED = "machineconfiguration.openshift.io/desiredConfig"


@dataclass(frozen=True)
class Site(Cluster):
    """A cluster that answers lists from a table."""

    answers: Mapping[str, tuple[dict[str, Any], ...] | None] = field(default_factory=dict)

    def get(self, path: str, **_: str) -> dict[str, Any]:
        """Answer a list; None refuses it."""
        items = self.answers[path]
        if items is None:
            raise RefusedError("refused", "", "403, forbidden")
        return {"items": [*items]}


def node(name: str, labels: Mapping[str, str], pool: str = "", gpus: int = 0) -> dict[str, Any]:
    """Return a node of a pool."""
    annotations = {DESIRED: f"rendered-{pool}-0123456789abcdef"} if pool else {}
    capacity = {"cpu": "8", **({"nvidia.com/gpu": str(gpus)} if gpus else {})}
    meta = {"name": name, "labels": {**labels}, "annotations": annotations}
    return {"metadata": meta, "status": {"capacity": capacity}}


def pool(name: str, *roles: str) -> dict[str, Any]:
    """Return a machine config pool that takes the MachineConfigs of roles."""
    expression = {"key": names.MACHINE_CONFIG_ROLE, "operator": "In", "values": [*roles]}
    return {"metadata": {"name": name}, "spec": {"machineConfigSelector": {"matchExpressions": [expression]}}}


def site(*nodes: dict[str, Any], pools: tuple[dict[str, Any], ...] | None = ()) -> Site:
    """Return a cluster."""
    return Site(Path("kubeconfig"), "site", answers={NODES: nodes, POOLS: pools})


def stack(name: str, shared: tuple[str, ...] = (), **changes: Any) -> Stack:
    """Return a stack that may configure `shared` as well."""
    found = read(name)
    cluster = found.settings.cluster.model_copy(update={"shared_nodes": shared})
    return replace(found, settings=found.settings.model_copy(update={"cluster": cluster, **changes}))


def sentences(wanted: Stack, cluster: Cluster) -> list[str]:
    """Return what is said of a cluster."""
    return [bare(sentence) for sentence in reached_nodes.require(wanted, cluster)]


@pytest.mark.parametrize("labels", [GPU, CLASS])
def test_a_node_that_the_gpu_operator_would_configure_is_refused(labels: dict[str, str]) -> None:
    """The message names the object, the nodes, the setting that allows them, and the label that excludes them."""
    other = site(node("team-1", labels), node("team-2", labels), node("cpu-1", CPU))
    with pytest.raises(Problem) as error:
        reached_nodes.require(stack("prod", ("team-2",)), other)
    assert has(
        str(error.value),
        *("Pulumi.prod.yaml", "ClusterPolicy", "team-1", "`cluster.shared_nodes`", f"{names.GPU_OPERANDS}=false"),
    )
    assert "team-2" not in str(error.value)
    (sentence,) = sentences(stack("prod", ("team-1", "team-2")), other)
    assert has(sentence, "ClusterPolicy", "team-1 to team-2", "cluster.shared_nodes allows")


@pytest.mark.parametrize(
    "other",
    [
        node("dgx01.hpc.example.com", GPU),
        node("team-1", {**GPU, names.GPU_OPERANDS: "false"}),
        node("master-1", {"node-role.kubernetes.io/master": ""}),
        node("cpu-1", {**CPU, "feature.node.kubernetes.io/pci-15b3.present": "true"}),
    ],
    ids=("own", "excluded", "master", "adapter"),
)
def test_other_nodes_are_not_mentioned(other: dict[str, Any]) -> None:
    """The stack's nodes, nodes without GPUs, and those that the operator leaves alone are no cause of anything."""
    assert sentences(stack("prod"), site(other)) == []


def test_an_operator_of_others_and_a_platform_of_others_reach_nothing() -> None:
    """Where another tool or another stack declares the ClusterPolicy, this one configures no node by it."""
    wanted = read("prod").settings.gpu
    operator = wanted.operator.model_copy(update={"installed": True})  # type: ignore[union-attr]
    assert sentences(stack("prod", gpu=wanted.model_copy(update={"operator": operator})), site(node("a", GPU))) == []
    assert sentences(stack("two-layers-tenants"), site(node("team-1", GPU))) == []


def test_a_node_whose_devices_nothing_has_looked_for_yet() -> None:
    """Before node feature discovery runs, a worker that offers GPUs is refused, and another is a warning."""
    (sentence,) = sentences(stack("prod"), site(node("team-1", WORKER)))
    assert has(sentence, "ClusterPolicy", "node feature discovery", "team-1", "not the stack's", "nodes")
    with pytest.raises(Problem, match="team-1"):
        reached_nodes.require(stack("prod"), site(node("team-1", WORKER, gpus=2)))


def test_the_special_resource_of_4_4_reaches_what_its_recipe_selects() -> None:
    """The recipe selects by the vendor alone, and no label of a node keeps it away."""
    with pytest.raises(Problem) as error:
        reached_nodes.require(stack("redpaper-4.4"), site(node("team-1", {**GPU, names.GPU_OPERANDS: "false"})))
    assert has(str(error.value), "SpecialResource", "team-1", "`cluster.shared_nodes`")
    assert names.GPU_OPERANDS not in str(error.value)
    assert not any("SpecialResource" in each for each in sentences(stack("redpaper-4.4"), site(node("a", CLASS))))


def test_nodes_that_a_machine_config_restarts_are_a_warning() -> None:
    """A MachineConfig of the workers is for nodes of other pools with the workers' configuration, too."""
    pools = (pool("worker", "worker"), pool("infra", "worker", "infra"), pool("master", "master"))
    other = site(node("w-1", CPU, "worker"), node("i-1", CPU, "infra"), node("m-1", {}, "master"), pools=pools)
    found = sentences(stack("redpaper-4.4"), other)
    assert len(found) == 2
    assert has(found[0], "pool infra", "i-1", "machine_config_pool", "cluster.shared_nodes")
    assert has(found[1], "restart", "pool worker", "w-1")
    assert sentences(stack("redpaper-4.4", ("w-1", "i-1")), other) == []


def test_a_node_of_others_with_the_role_of_the_stacks_own_pool() -> None:
    """A node that has the role of a pool that the stack is about to create would move to it."""
    settings = read("prod").settings
    role = {**CPU, names.NODE_ROLE + settings.machine_config_pool: ""}
    found = sentences(stack("prod"), site(node("other-1", role, "worker")))
    assert any(has(sentence, f"pool {settings.machine_config_pool}", "other-1") for sentence in found)


@pytest.mark.parametrize("answers", [{NODES: None}, {NODES: (node("cpu-1", CPU, "worker"),), POOLS: None}])
def test_what_may_not_be_listed_is_a_warning(answers: dict[str, Any]) -> None:
    """An account that may not list nodes or pools gets a warning with the reason."""
    (sentence,) = sentences(stack("redpaper-4.4"), Site(Path("kubeconfig"), "site", answers=answers))
    assert has(sentence, "could not be determined", "403, forbidden")
