"""Operators that go from the release of 2020 to today's, on one cluster. Last of all: it stays upgraded."""

import pytest

from apis import kinds
from components.node_feature_discovery import NodeFeatureDiscoveryArgs, spec_v1
from simulator.actors import pods
from simulator.actors.packages import packages
from tests.simulator.actors import platform
from tests.simulator.actors.conftest import Person

pytestmark = pytest.mark.cluster

EARLY, TODAY = kinds.NODE_FEATURE_DISCOVERY_V1ALPHA1, kinds.NODE_FEATURE_DISCOVERY_V1
NAME, NAMESPACE = "nfd-master-server", platform.NFD


def test_node_feature_discovery(ready: Person) -> None:
    """An upgrade keeps the custom resource and removes the master of 2020."""
    before = ready.get(EARLY, NAME, NAMESPACE)
    ready.patch(kinds.SUBSCRIPTION, "nfd", {"spec": {"channel": "stable"}}, NAMESPACE)
    version = packages()["nfd"].channels["stable"].versions[-1]
    csv = kinds.CLUSTER_SERVICE_VERSION
    ready.eventually(lambda: pods.phase(ready.get(csv, version, NAMESPACE)) == "Succeeded")
    after = ready.eventually(lambda: ready.get(TODAY, NAME, NAMESPACE))
    assert (after["metadata"]["uid"], after["spec"]) == (before["metadata"]["uid"], before["spec"])

    args = NodeFeatureDiscoveryArgs(kind=TODAY, namespace=NAMESPACE, instance=NAME)
    ready.patch(TODAY, NAME, {"spec": spec_v1(args)}, NAMESPACE)
    ready.eventually(lambda: ready.find(kinds.DAEMON_SET, "nfd-master", NAMESPACE) is None)
    ready.eventually(lambda: ready.condition(kinds.DEPLOYMENT, "nfd-master", NAMESPACE, "Available"))
    ready.eventually(lambda: ready.condition(TODAY, NAME, NAMESPACE, "Available"))
    for node in platform.DGX:
        for name, number in {"nvidia.com/gpu": 8, "rdma/shared_ib0": 100}.items():
            ready.eventually(lambda n=node, r=name, w=number: ready.offers(n, r) == w)  # type: ignore[misc]
