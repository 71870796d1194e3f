"""Ways around the policies that a real API server refuses, and quotas that it accepts and that count nothing."""

import copy
import time
from collections.abc import Iterator
from typing import Any

import pytest
from kubernetes import client, config

from policies.ways_around import Way, ways
from tests.conformance.server import Server
from tests.support.clusters import running
from toolkit.simulator.cluster import ClusterSpec

pytestmark = pytest.mark.cluster

NAMESPACE = "adas"
REFUSED = [way for found in ways().values() for way in found if way.api]
SECONDS = 240
QUOTA = {"apiVersion": "v1", "kind": "ResourceQuota"}
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {"containers": [{"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": 8}}}]},
}
KEYS = ("nvidia.com/gpu", "limits.nvidia.com/gpu", "requests.nvidia.com/gpu")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Give an API server with the namespace of the fixtures, and one for each key of a quota."""
    with running(ClusterSpec(name="test-ways-around", actors=False, release="current")) as cluster:
        made = Server(cluster)
        names = (NAMESPACE, *(_namespace(key) for key in KEYS))
        made.install([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in names])
        accounts = [
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}}
            for name in names
        ]
        made.install(accounts)
        made.install(
            [
                {**QUOTA, "metadata": {"name": "gpus", "namespace": _namespace(key)}, "spec": {"hard": {key: 0}}}
                for key in KEYS
            ]
        )
        config.load_kube_config(str(cluster.kubeconfig), cluster.context)  # type: ignore[no-untyped-call]
        yield made


def _namespace(key: str) -> str:
    return key.replace(".", "-").replace("/", "-")


@pytest.mark.parametrize("way", REFUSED, ids=lambda way: str(way.fixture))
def test_a_server_refuses_it(way: Way, server: Server) -> None:
    """What a row says of the API server is what the API server says."""
    faults = server.all_faults(way.manifests())
    assert any(way.api in fault for fault in faults), faults


@pytest.mark.parametrize("key", KEYS)
def test_only_requests_are_counted(key: str, server: Server) -> None:
    """A quota of no GPUs refuses a pod with eight by the key requests.nvidia.com/gpu alone (quota-counts)."""
    core: Any = client.CoreV1Api()
    deadline = time.monotonic() + SECONDS
    while not core.read_namespaced_resource_quota("gpus", _namespace(key)).status.hard:
        assert time.monotonic() < deadline, "the quota was not counted"
        time.sleep(0.1)
    pod = copy.deepcopy(POD)
    pod["metadata"]["namespace"] = _namespace(key)
    refused = [fault for fault in server.faults(pod) if "exceeded quota: gpus" in fault]
    assert bool(refused) == key.startswith("requests.")
