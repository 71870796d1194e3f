"""ComputeDomains on a small simulated cluster: the real controller, and simulated daemons on nodes of a rack of NVLink.

The driver is its chart's, for ComputeDomains alone, as beside the device plugin.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from core.apis import kinds
from core.apis.names import COMPUTE_DOMAIN, GPU_CLIQUE, GPU_NODE
from core.yaml import text as yaml_text
from tests.support import dra_chart
from tests.support.clusters import running
from tests.support.user import User
from toolkit.engine import tools
from toolkit.engine.tools.table import DRA_TOOLS
from toolkit.simulator import pods
from toolkit.simulator.actors import pod_devices
from toolkit.simulator.cluster import ClusterSpec, NodeSpec
from toolkit.simulator.manifests import manifest

pytestmark = pytest.mark.cluster

NODES = ("tray01", "tray02")
SPEC = ClusterSpec(
    name="test-domains",
    nodes=(
        NodeSpec(name="worker"),
        *(NodeSpec(name=name, profile="dgx-h200", host_driver=True, nvlink_domain="rack01") for name in NODES),
    ),
    release="current",
    openshift="4.21",
    mpi="v2beta1",
    compute_domains=True,
)
TEAM, OTHER = "vision", "speech"
DRIVER = dra_chart.NAMESPACE
CHANNEL = "ranks-channel"


def domain(namespace: str) -> dict[str, Any]:
    """Return a ComputeDomain of two nodes, for whose workload the controller makes a template of claims."""
    spec = {"numNodes": 2, "channel": {"resourceClaimTemplate": {"name": CHANNEL}}}
    return manifest(kinds.COMPUTE_DOMAIN, "ranks", namespace, spec=spec)


def ranks(namespace: str) -> dict[str, Any]:
    """Return a workload of two pods, one a node, that share memory over NVLink."""
    labels = {"app": "ranks"}
    apart = {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}
    pod = {
        "containers": [
            {
                "name": "main",
                "image": "nvcr.io/nvidia/pytorch:26.01-py3",
                "command": ["sleep", "infinity"],
                "resources": {"claims": [{"name": "channel"}]},
            }
        ],
        "resourceClaims": [{"name": "channel", "resourceClaimTemplateName": CHANNEL}],
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}},
    }
    template = {"metadata": {"labels": labels}, "spec": pod}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    return manifest(kinds.DEPLOYMENT, "ranks", namespace, spec=spec)


@pytest.fixture(scope="module")
def user() -> Iterator[User]:
    """Run the cluster, with the driver's definitions and its chart's objects."""
    with running(SPEC) as started:
        api = User.of(started.kubeconfig)
        for node in NODES:
            api.patch(kinds.NODE, node, {"metadata": {"labels": {GPU_NODE: "true"}}})
        definitions = [
            yaml_text.read(file.read_text()) for file in sorted(tools.find(DRA_TOOLS[1]).glob("resource.nvidia.com_*"))
        ]
        teams = [manifest(kinds.NAMESPACE, name) for name in (TEAM, OTHER)]
        for obj in (*definitions, *dra_chart.objects(gpus=False), *teams):
            api.eventually(partial(api.apply, dra_chart.kind_of(obj), obj))
        api.eventually(lambda: len(api.list(kinds.RESOURCE_SLICE)["items"]) == len(NODES))
        yield api


def running_ranks(user: User, namespace: str) -> list[dict[str, Any]]:
    """Return the pods of the workload whose containers run."""
    return [pod for pod in user.pods(namespace, "app=ranks") if pods.runs(pod)]


def status(user: User) -> dict[str, Any]:
    """Return the status of the ComputeDomain."""
    found: dict[str, Any] = user.get(kinds.COMPUTE_DOMAIN, "ranks", TEAM).get("status") or {}
    return found


def of_driver(user: User) -> list[str]:
    """Return the names of what the driver has made for domains in its own namespace."""
    made = (kinds.DAEMON_SET, kinds.RESOURCE_CLAIM_TEMPLATE, kinds.COMPUTE_DOMAIN_CLIQUE)
    names = [obj["metadata"]["name"] for kind in made for obj in user.list(kind, DRIVER)["items"]]
    return [name for name in names if not name.startswith(DRIVER)]


def test_a_domain_becomes_ready_over_a_clique(user: User) -> None:
    """Pods wait for the daemon of their node; the real controller reports both nodes, with their clique."""
    cliques = {pods.labels(user.get(kinds.NODE, node)).get(GPU_CLIQUE) for node in NODES}
    assert len(cliques) == 1
    user.eventually(partial(user.apply, kinds.COMPUTE_DOMAIN, domain(TEAM)))
    user.eventually(lambda: user.find(kinds.RESOURCE_CLAIM_TEMPLATE, CHANNEL, TEAM))
    assert not status(user).get("nodes")
    user.apply(kinds.DEPLOYMENT, ranks(TEAM))
    user.eventually(lambda: status(user).get("status") == "Ready")
    user.eventually(lambda: len(running_ranks(user, TEAM)) == len(NODES))
    entries = status(user)["nodes"]
    assert {entry["name"] for entry in entries} == {*NODES}
    assert {entry["cliqueID"] for entry in entries} == cliques
    assert sorted(entry["index"] for entry in entries) == [0, 1]
    uid = user.get(kinds.COMPUTE_DOMAIN, "ranks", TEAM)["metadata"]["uid"]
    assert {pods.labels(user.get(kinds.NODE, node)).get(COMPUTE_DOMAIN) for node in NODES} == {uid}
    for pod in running_ranks(user, TEAM):
        (device,) = pod_devices.devices(pod)
        assert (device.device, device.domain) == ("channel-0", uid)


def test_a_second_domain_on_the_same_nodes_waits(user: User) -> None:
    """A node is in one domain at a time: another tenant's pods find no channel there until the first are gone."""
    user.apply(kinds.COMPUTE_DOMAIN, domain(OTHER))
    user.eventually(lambda: user.find(kinds.RESOURCE_CLAIM_TEMPLATE, CHANNEL, OTHER))
    user.apply(kinds.DEPLOYMENT, ranks(OTHER))

    def unscheduled() -> bool:
        messages = [
            condition.get("message", "")
            for pod in user.pods(OTHER, "app=ranks")
            for condition in (pod.get("status") or {}).get("conditions") or []
        ]
        return sum("cannot allocate all claims" in message for message in messages) == len(NODES)

    user.eventually(unscheduled)
    assert not running_ranks(user, OTHER)


def test_a_domain_is_removed_cleanly(user: User) -> None:
    """With its workload go daemons, cliques, templates and labels; the second domain then has the nodes."""
    first = user.get(kinds.COMPUTE_DOMAIN, "ranks", TEAM)["metadata"]["uid"]
    user.delete(kinds.DEPLOYMENT, "ranks", TEAM)
    user.delete(kinds.COMPUTE_DOMAIN, "ranks", TEAM)
    user.eventually(lambda: user.find(kinds.COMPUTE_DOMAIN, "ranks", TEAM) is None)
    user.eventually(lambda: not user.list(kinds.RESOURCE_CLAIM_TEMPLATE, TEAM)["items"])
    user.eventually(lambda: len(running_ranks(user, OTHER)) == len(NODES))
    user.eventually(lambda: not any(first in name for name in of_driver(user)))
    user.delete(kinds.DEPLOYMENT, "ranks", OTHER)
    user.delete(kinds.COMPUTE_DOMAIN, "ranks", OTHER)
    user.eventually(lambda: not any(COMPUTE_DOMAIN in pods.labels(user.get(kinds.NODE, node)) for node in NODES))
    user.eventually(lambda: not user.list(kinds.RESOURCE_CLAIM)["items"])
    assert not of_driver(user)
