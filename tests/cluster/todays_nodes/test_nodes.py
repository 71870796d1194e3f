"""Nodes of today: what a pool rolls out, what its kubelets reserve, and bonds over its ports."""

import pytest

from components.fabric.bond import Bond, BondArgs
from core.apis import kinds, names
from core.apis.quantity import amount
from core.hardware.topology import SYSTEM_CPUS
from tests.cluster.todays_nodes.site import NODES, PLAIN, POOL, Site
from tests.support import platform
from tests.support.machines import DGX_A100
from tests.support.recorded import component
from toolkit.render.manifests import manifests
from toolkit.simulator import names as simulated
from toolkit.simulator import pods
from toolkit.simulator.bootstrap import nodes

pytestmark = pytest.mark.cluster


def _annotation(site: Site, node: str, name: str) -> str:
    return pods.annotations(site.api.get(kinds.NODE, node)).get(name, "")


def test_the_pool_rolls_all_of_it_out(site: Site) -> None:
    """When the pool is updated, kubelets, kernel arguments and interfaces of its nodes are as declared."""
    for node in NODES:
        assert '"rail0", "rail1"' in _annotation(site, node, simulated.INTERFACES)
        assert "iommu=pt" in _annotation(site, node, simulated.KERNEL_ARGUMENTS)
        status = site.api.get(kinds.NODE, node)["status"]
        assert int(status["allocatable"]["cpu"]) == DGX_A100.cpus - SYSTEM_CPUS
        capacity, allocatable = (amount(status[of]["memory"]) for of in ("capacity", "allocatable"))
        assert capacity is not None
        assert allocatable is not None
        assert capacity - allocatable == (1024 + 100) * 1024**2
    assert _annotation(site, PLAIN, simulated.KERNEL_ARGUMENTS) == ""


def test_a_pod_with_all_that_the_kubelet_leaves_waits(site: Site) -> None:
    """A pod with all CPUs that the kubelet leaves is pending: agents on the node have some of them."""
    left = site.api.get(kinds.NODE, NODES[0])["status"]["allocatable"]["cpu"]
    container = {"name": "all", "image": "example.com/all:1", "resources": {"requests": {"cpu": left}}}
    host = {"nodeSelector": {"kubernetes.io/hostname": NODES[0]}, "tolerations": [{"operator": "Exists"}]}
    body = {"metadata": {"name": "all", "namespace": nodes.NAMESPACE}, "spec": {**host, "containers": [container]}}
    site.api.create(kinds.POD, body, nodes.NAMESPACE)

    def refused() -> bool:
        conditions = site.api.get(kinds.POD, "all", nodes.NAMESPACE)["status"].get("conditions") or []
        return any("Insufficient cpu" in one.get("message", "") for one in conditions)

    site.api.eventually(refused)
    site.api.delete(kinds.POD, "all", nodes.NAMESPACE)


def test_a_kubelet_that_does_not_start_degrades_its_pool(site: Site) -> None:
    """Reserved CPUs that a machine does not have degrade its pool, with the kubelet's message."""
    wrong = {"reservedSystemCPUs": "0-3,128-131", "cpuManagerPolicy": "static"}
    selector = {"matchLabels": {f"{names.MACHINE_CONFIG_POOL}worker": ""}}
    spec = {"machineConfigPoolSelector": selector, "kubeletConfig": wrong}
    site.api.apply(kinds.KUBELET_CONFIG, platform.obj(kinds.KUBELET_CONFIG, "worker-wrong", spec=spec))
    site.api.eventually(lambda: site.api.condition(kinds.MACHINE_CONFIG_POOL, "worker", "", "Degraded"))
    pool = site.api.get(kinds.MACHINE_CONFIG_POOL, "worker")
    (said,) = [one["message"] for one in pool["status"]["conditions"] if one["type"] == "NodeDegraded"]
    assert f"Node {PLAIN} is reporting" in said
    assert "unknown CPU ID: 128" in said
    # A pool of one's own has the workers' configurations, too, and rolls out twice here. A rollout that came later
    # would take what other tests run on its nodes.
    part = "99-worker-generated-kubelet"
    site.api.eventually(lambda: part in _asked(site, POOL))
    site.api.delete(kinds.KUBELET_CONFIG, "worker-wrong")
    for name in ("worker", POOL):
        site.api.eventually(lambda pool=name: _rolled_out_without(site, pool, part))  # type: ignore[misc]
    assert not pods.condition(site.api.get(kinds.MACHINE_CONFIG_POOL, "worker"), "Degraded")


def _asked(site: Site, pool: str) -> list[str]:
    found = site.api.get(kinds.MACHINE_CONFIG_POOL, pool)
    return [one["name"] for one in found["spec"]["configuration"]["source"]]


def _rolled_out_without(site: Site, pool: str, part: str) -> bool:
    found = site.api.get(kinds.MACHINE_CONFIG_POOL, pool)
    reached = found["spec"]["configuration"] == found["status"]["configuration"]
    return part not in _asked(site, pool) and reached and pods.condition(found, "Updated")


def test_a_bond_needs_its_ports(site: Site) -> None:
    """A bond over interfaces that do not exist degrades its policy: one node fails, the other's is aborted."""
    labels = {f"node-role.kubernetes.io/{POOL}": ""}
    site.declare(lambda: Bond("bond", BondArgs(node_selector=labels, ports=("rail0", "rail1"))))
    lost = BondArgs(policy_name="lost", interface="bond1", node_selector=labels, ports=("ibp12s0", "ibp18s0"))
    (policy,) = manifests(component(lambda: Bond("lost", lost)))
    site.api.apply(kinds.NODE_NETWORK_CONFIGURATION_POLICY, policy)
    found = kinds.NODE_NETWORK_CONFIGURATION_POLICY
    site.api.eventually(lambda: site.api.condition(found, "lost", "", "Degraded"))
    assert site.api.condition(found, "lost", "", "Available") is None
    first, second = (site.api.get(kinds.NODE_NETWORK_CONFIGURATION_ENACTMENT, f"{node}.lost") for node in NODES)
    assert pods.condition(first, "Failing")
    assert pods.condition(second, "Aborted")
