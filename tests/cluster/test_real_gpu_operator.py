"""The real GPU Operator, 25.3, on a small simulated cluster: from a ClusterPolicy to GPUs, and its words on faults."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from components.gpu.gpu_operator import GpuOperator, GpuOperatorArgs
from components.nodes.node_feature_discovery import NodeFeatureDiscovery, NodeFeatureDiscoveryArgs
from components.operators.olm_operator import OlmOperator, OlmOperatorArgs
from core.apis import kinds
from core.apis.names import GPU_NODE, GPU_RESOURCE
from stacks.releases import RELEASES
from tests.support.clusters import running
from tests.support.machines import V100_SXM2_32GB
from tests.support.messages import has
from tests.support.recorded import component
from tests.support.user import User
from toolkit.cli.status import platform_parts
from toolkit.render.manifests import manifests
from toolkit.simulator import pods
from toolkit.simulator.cluster import ClusterSpec, NodeSpec

pytestmark = pytest.mark.cluster

V100 = "v100"
SPEC = ClusterSpec(
    name="test-gpu-operator",
    nodes=(NodeSpec(name="worker"), NodeSpec(name=V100, profile="dgx1-v100-32gb")),
    release="current",
    openshift="4.18",
    mpi="v2beta1",
    gpu_operator=True,
)
NFD, GPUS, POLICY = "openshift-nfd", "nvidia-gpu-operator", "gpu-cluster-policy"
PACKAGES = {
    NFD: ("nfd", "stable", "redhat-operators"),
    GPUS: ("gpu-operator-certified", "v25.3", "certified-operators"),
}


def operators() -> None:
    """Declare the subscriptions."""
    for namespace, (package, channel, source) in PACKAGES.items():
        OlmOperator(package, OlmOperatorArgs(namespace=namespace, package=package, channel=channel, source=source))


def platform() -> None:
    """Declare node feature discovery and the policy."""
    args = NodeFeatureDiscoveryArgs(kind=kinds.NODE_FEATURE_DISCOVERY_V1, namespace=NFD, instance="nfd-instance")
    NodeFeatureDiscovery("nfd", args)
    policy = {"gpus": [{"gpu": V100_SXM2_32GB}], "driver": {"version": "580.105.08"}}
    GpuOperator("gpu", GpuOperatorArgs.model_validate(policy))


def declare(api: User, build: Callable[[], None]) -> None:
    """Apply what `build` declares, namespaces first, as soon as the kinds are served."""
    objects = [item for item in manifests(component(build)) if item["kind"] != "ClusterServiceVersion"]
    for manifest in sorted(objects, key=lambda item: str(item["kind"] != "Namespace")):
        kind = kinds.find(manifest["apiVersion"], manifest["kind"])
        assert kind is not None
        api.eventually(partial(api.apply, kind, manifest))


@pytest.fixture(scope="module")
def user() -> Iterator[User]:
    """Run the cluster, with both operators installed."""
    with running(SPEC) as started:
        api = User.of(started.kubeconfig)
        api.patch(kinds.NODE, V100, {"metadata": {"labels": {GPU_NODE: "true"}}})
        declare(api, operators)
        declare(api, platform)
        yield api


def drivers(user: User) -> list[dict[str, Any]]:
    """Return the pods of the driver."""
    label = "app.kubernetes.io/component=nvidia-driver"
    return [pod for pod in user.pods(GPUS, label) if pods.node_name(pod) == V100]


def said(user: User) -> str:
    """Return what `./hpc status` shows of the policy."""
    ours = {kinds.CLUSTER_POLICY: [user.get(kinds.CLUSTER_POLICY, POLICY)]}
    listed = platform_parts.parts(lambda kind: ours.get(kind, []), lambda _: [], RELEASES["4.18"], "worker")
    return next(part.state for part in listed)


def test_the_policy_becomes_gpus(user: User) -> None:
    """From our policy the real operator makes the DaemonSets by which a node offers its GPUs, and is ready."""
    user.eventually(lambda: user.offers(V100, GPU_RESOURCE) == 8)
    user.eventually(lambda: said(user) == "ready")
    labels = pods.labels(user.get(kinds.NODE, V100))
    assert labels["nvidia.com/gpu.deploy.driver"] == "true"
    user.eventually(lambda: pods.labels(user.get(kinds.NODE, V100)).get("nvidia.com/gpu.product"))
    assert "nvidia.com/gpu.present" not in pods.labels(user.get(kinds.NODE, "worker"))


def test_a_driver_that_ends_is_named_in_the_operators_words(user: User) -> None:
    """A kernel module that the GPUs do not have leaves the policy not ready; status has the operator's own message."""
    user.patch(kinds.CLUSTER_POLICY, POLICY, {"spec": {"driver": {"kernelModuleType": "open"}}})

    def replaced() -> bool:
        for pod in drivers(user):
            text = str(pod["spec"])
            if "KERNEL_MODULE_TYPE" in text and "'open'" in text:
                return True
            user.delete(kinds.POD, pod["metadata"]["name"], GPUS)
        return False

    user.eventually(replaced)
    user.eventually(lambda: has(said(user), "notReady", "states not ready", "state-driver"))
    user.eventually(lambda: user.offers(V100, GPU_RESOURCE) in (0, None))
