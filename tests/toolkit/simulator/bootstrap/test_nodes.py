"""Nodes as the bootstrap makes them."""

from toolkit.simulator.bootstrap import nodes
from toolkit.simulator.state import NodeSpec

DGX = NodeSpec(name="dgx01", profile="dgx1-v100-16gb")


def test_nodes_are_bare() -> None:
    """A node starts without GPU, rdma/* resource and feature label."""
    manifest = nodes.node(DGX)
    reported = nodes.status(DGX, kubelet_port=10250, version="1.34.2")["status"]
    assert reported["capacity"].keys() == reported["allocatable"].keys()
    assert reported["capacity"].keys() == {"cpu", "memory", "pods", "ephemeral-storage"}
    assert not [label for label in manifest["metadata"]["labels"] if "feature" in label or "nvidia" in label]
    assert manifest["metadata"]["annotations"] == {"hpc.sim/simulated-by": "kwok", "hpc.sim/profile": "dgx1-v100-16gb"}
    assert "taints" not in manifest["spec"]


def test_nodes_have_for_pods_what_such_machines_have_in_the_field() -> None:
    """Nodes offer the memory and CPUs that such machines offer under OpenShift, not the nominal ones."""
    reported = nodes.status(DGX, kubelet_port=10250, version="1.34.2")["status"]
    assert reported["capacity"]["cpu"] == "80"
    assert reported["allocatable"]["cpu"] == "79500m"
    capacity, allocatable = (int(reported[of]["memory"].removesuffix("Ki")) for of in ("capacity", "allocatable"))
    assert 503 * 1024**2 < capacity < 504 * 1024**2
    assert capacity - allocatable == (1024 + 100) * 1024


def test_every_node_has_the_agents_of_openshift() -> None:
    """OpenShift's own DaemonSets take their requests on every node."""
    (container,) = nodes.daemon_set()["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["requests"] == {"cpu": "304m", "memory": "788Mi"}


def test_only_pure_masters_are_tainted() -> None:
    """Masters are tainted, unless they are workers too."""
    master = nodes.node(NodeSpec(name="m", roles=("master",)))
    assert master["spec"]["taints"] == [{"key": "node-role.kubernetes.io/master", "effect": "NoSchedule"}]
    assert "node-role.kubernetes.io/master" in master["metadata"]["labels"]
    assert "taints" not in nodes.node(NodeSpec(name="m", roles=("master", "worker")))["spec"]
    own = {"key": "dedicated", "effect": "NoSchedule"}
    assert nodes.node(NodeSpec(name="w", taints=(own,)))["spec"]["taints"] == [own]
