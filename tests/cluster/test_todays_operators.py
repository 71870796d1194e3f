"""Node features, GPUs and networks of today, as this project declares them, on a small simulated cluster."""

import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from components.fabric.network_operator import NetworkOperator, NetworkOperatorArgs
from components.fabric.port_network import PortNetwork, PortNetworkArgs
from components.gpu.gpu_operator import GpuOperator, GpuOperatorArgs
from components.nodes.node_feature_discovery import NodeFeatureDiscovery, NodeFeatureDiscoveryArgs
from components.operators.olm_operator import OlmOperator, OlmOperatorArgs
from core.apis import kinds
from core.apis.names import GPU_NODE, NETWORKS, OFED_WAIT
from core.hardware.profiles import PROFILES
from tests.components.kit import DRIVER, PLUGIN, WHOLE, devices
from tests.support import platform
from tests.support.clusters import running
from tests.support.machines import A100_SXM4_40GB
from tests.support.recorded import component
from tests.support.user import User
from toolkit.render.manifests import manifests
from toolkit.simulator import pods
from toolkit.simulator.actors import mig, multus
from toolkit.simulator.cluster import ClusterSpec, NodeSpec

pytestmark = pytest.mark.cluster

Manifest = dict[str, Any]

A100, V100, HOST = "a100", "v100", "host-driver"
SPEC = ClusterSpec(
    name="test-today",
    nodes=(
        NodeSpec(name="worker"),
        NodeSpec(name=A100, profile="dgx-a100"),
        NodeSpec(name=HOST, profile="dgx-a100", host_driver=True),
    ),
    release="current",
    mpi="v2beta1",
)
GPU = "nvidia.com/gpu"
NFD, GPUS, NETWORK, TENANT = "openshift-nfd", "nvidia-gpu-operator", "nvidia-network-operator", "adas"
PACKAGES = {
    NFD: ("nfd", "stable", "redhat-operators"),
    GPUS: ("gpu-operator-certified", "v26.7", "certified-operators"),
    NETWORK: ("nvidia-network-operator", "v26.4", "certified-operators"),
}
POLICY = "gpu-cluster-policy"


def operators() -> None:
    """Declare the subscriptions."""
    for namespace, (package, channel, source) in PACKAGES.items():
        OlmOperator(package, OlmOperatorArgs(namespace=namespace, package=package, channel=channel, source=source))


def features() -> None:
    """Declare node feature discovery."""
    args = NodeFeatureDiscoveryArgs(kind=kinds.NODE_FEATURE_DISCOVERY_V1, namespace=NFD, instance="nfd-instance")
    NodeFeatureDiscovery("nfd", args)


def gpus(**changes: Any) -> None:
    """Declare the GPU operator's policy; nvidia-peermem, so that its driver waits for the network operator's."""
    usual = {
        "gpus": [{"gpu": A100_SXM4_40GB, "gpudirect": {"mechanism": "nvidia-peermem"}}],
        "driver": {"version": "595.91.07"},
        "mig": "single",
    }
    GpuOperator("gpu", GpuOperatorArgs.model_validate(usual | changes))


def network() -> None:
    """Declare the network operator's policy."""
    ports = devices(PROFILES["dgx-a100"])
    whole = WHOLE | {"devices": ({"resource_name": "port0", "interfaces": ("ibp12s0", "absent0")},)}
    args = {"link_layer": "InfiniBand", "devices": ports, "shared": PLUGIN, "driver": DRIVER, "host_devices": whole}
    NetworkOperator("network", NetworkOperatorArgs.model_validate(args))


def port() -> None:
    """Declare a second network of the tenant's pods."""
    args = {
        "network": "rail-0",
        "namespace": TENANT,
        "attachment": {"kind": "macvlan", "master": "ibp12s0"},
        "addresses": {"range": "192.168.10.0/29", "exclude": ("192.168.10.1/32",)},
    }
    PortNetwork("rail-0", PortNetworkArgs.model_validate(args))


def declare(api: User, build: Callable[[], None]) -> None:
    """Apply what `build` declares, like a client that does not wait; namespaces come first."""
    found = [each for each in manifests(component(build)) if each["kind"] != "ClusterServiceVersion"]
    for manifest in sorted(found, key=lambda each: str(each["kind"] != "Namespace")):
        kind = kinds.find(manifest["apiVersion"], manifest["kind"])
        assert kind is not None
        api.eventually(partial(api.apply, kind, manifest))


def state(api: User, kind: kinds.Kind, name: str) -> str:
    """Return an operator's state in its custom resource."""
    return str((api.get(kind, name).get("status") or {}).get("state", ""))


def labels(api: User, node: str) -> dict[str, str]:
    """Return a node's labels."""
    return pods.labels(api.get(kinds.NODE, node))


@pytest.fixture(scope="module")
def user() -> Iterator[User]:
    """Run the cluster, with the three operators installed."""
    with running(SPEC) as started:
        api = User.of(started.kubeconfig)
        for node in (A100, HOST):
            api.patch(kinds.NODE, node, {"metadata": {"labels": {GPU_NODE: "true"}}})
        declare(api, operators)
        api.apply(kinds.NAMESPACE, platform.obj(kinds.NAMESPACE, TENANT))
        for namespace in PACKAGES:
            api.eventually(
                lambda n=namespace: [  # type: ignore[misc]
                    one for one in api.list(kinds.CLUSTER_SERVICE_VERSION, n)["items"] if pods.phase(one) == "Succeeded"
                ]
            )
        yield api


def test_everything_comes_after_its_cause(user: User) -> None:
    """Node features come first, then the adapters' driver, then the GPU driver, and GPUs last."""
    declare(user, gpus)
    policy = partial(state, user, kinds.CLUSTER_POLICY, POLICY)
    # As in the field, a policy is ready where no label shows the operator a GPU.
    user.eventually(lambda: policy() == "ready")
    reasons = {one["reason"] for one in user.get(kinds.CLUSTER_POLICY, POLICY)["status"]["conditions"]}
    assert "NFDLabelsMissing" in reasons
    assert user.list(kinds.DAEMON_SET, GPUS)["items"] == []

    declare(user, features)
    instance = (kinds.NODE_FEATURE_DISCOVERY_V1, "nfd-instance", NFD)
    user.eventually(lambda: user.condition(*instance, "Available"))
    for node in (A100, HOST):
        user.eventually(lambda n=node: "feature.node.kubernetes.io/pci-15b3.present" in labels(user, n))  # type: ignore[misc]
    assert not any("pci-" in label for label in labels(user, "worker"))

    user.eventually(lambda: policy() == "notReady")
    # The node's own driver needs no other; the one in a container waits for the adapters'.
    user.eventually(lambda: user.offers(HOST, GPU) == 8)
    user.never(lambda: user.offers(A100, GPU))
    assert user.pods(GPUS, "app=nvidia-driver-daemonset") == []
    (toolkit,) = [
        pod for pod in user.pods(GPUS, "app=nvidia-container-toolkit-daemonset") if pods.node_name(pod) == A100
    ]
    assert pods.phase(toolkit) == "Pending"

    declare(user, network)
    user.eventually(lambda: state(user, kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy") == "ready")
    user.eventually(lambda: policy() == "ready")
    for node in (A100, HOST):
        assert labels(user, node)[OFED_WAIT] == "false"
        user.eventually(lambda n=node: user.offers(n, GPU) == 8)  # type: ignore[misc]
        user.eventually(lambda n=node: user.offers(n, "rdma/shared_ibp12s0") == 63)  # type: ignore[misc]
        user.eventually(lambda n=node: user.offers(n, "nvidia.com/port0") == 1)  # type: ignore[misc]
        product = labels(user, node).get("nvidia.com/gpu.product")
        user.eventually(
            lambda n=node: labels(user, n).get("nvidia.com/gpu.product") == "NVIDIA-A100-SXM4-40GB"  # type: ignore[misc]
        )
        assert product in {None, "NVIDIA-A100-SXM4-40GB"}
    assert GPU not in user.get(kinds.NODE, "worker")["status"]["allocatable"]


def test_gpus_are_divided_as_the_label_says(user: User) -> None:
    """GPUs are divided as the node's label says, and whole again without it; an unknown configuration fails."""
    user.eventually(lambda: user.pods(GPUS, "app=nvidia-mig-manager"))
    user.patch(kinds.NODE, A100, {"metadata": {"labels": {mig.CONFIG: "all-3g.20gb"}}})
    user.eventually(lambda: user.offers(A100, GPU) == 16)
    user.eventually(lambda: labels(user, A100)["nvidia.com/gpu.product"] == "NVIDIA-A100-SXM4-40GB-MIG-3g.20gb")
    assert user.offers(HOST, GPU) == 8
    user.patch(kinds.NODE, A100, {"metadata": {"labels": {mig.CONFIG: "all-10g.1gb"}}})
    user.eventually(lambda: labels(user, A100)[mig.STATE] == "failed")
    user.patch(kinds.NODE, A100, {"metadata": {"labels": {mig.CONFIG: mig.DISABLED}}})
    user.eventually(lambda: user.offers(A100, GPU) == 8)


def test_policies_that_select_one_node_are_in_error_until_one_goes(user: User) -> None:
    """NicNodePolicies of which two select a node name it and both; without one of them the other is ready."""
    for name in ("one", "other"):
        body = platform.obj(kinds.NIC_NODE_POLICY, name, spec={"nodeSelector": {"kubernetes.io/hostname": HOST}})
        user.apply(kinds.NIC_NODE_POLICY, body)
    for name in ("one", "other"):
        user.eventually(lambda n=name: state(user, kinds.NIC_NODE_POLICY, n) == "error")  # type: ignore[misc]
    reason = user.get(kinds.NIC_NODE_POLICY, "one")["status"]["reason"]
    assert f'node "{HOST}" is selected by policies: [one, other]' in reason
    user.delete(kinds.NIC_NODE_POLICY, "other")
    user.eventually(lambda: state(user, kinds.NIC_NODE_POLICY, "one") == "ready")
    assert state(user, kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy") == "ready"


def test_pods_join_networks_that_are_there(user: User) -> None:
    """Pods wait for the network that they name, and each gets an address of its own."""
    for number in range(2):
        pod = platform.obj(kinds.POD, f"joins-{number}", TENANT)
        pod["metadata"]["annotations"] = {NETWORKS: "rail-0"}
        pod["spec"] = {"nodeName": A100, "containers": [{"name": "main", "image": "registry.example.com/image:1"}]}
        user.eventually(partial(user.apply, kinds.POD, pod))

    def events() -> list[str]:
        found = user.list(kinds.EVENT, TENANT)["items"]
        return [one["message"] for one in found if one["reason"] == "FailedCreatePodSandBox"]

    user.eventually(events)
    assert "cannot find a network-attachment-definition (rail-0) in namespace (adas)" in events()[0]
    assert pods.phase(user.get(kinds.POD, "joins-0", TENANT)) == "Pending"
    declare(user, port)
    user.eventually(lambda: state(user, kinds.MACVLAN_NETWORK, "rail-0") == "ready")
    given = set()
    for number in range(2):
        user.eventually(lambda n=number: pods.phase(user.get(kinds.POD, f"joins-{n}", TENANT)) == "Running")  # type: ignore[misc]
        joined = json.loads(pods.annotations(user.get(kinds.POD, f"joins-{number}", TENANT))[multus.STATUS])
        assert joined[1]["name"] == f"{TENANT}/rail-0"
        given.add(joined[1]["ips"][0])
    assert given == {"192.168.10.2", "192.168.10.3"}


def test_a_driver_that_ends_takes_the_gpus_along(user: User) -> None:
    """Without its driver a node offers no GPUs; a node with a driver of its own keeps them."""
    declare(user, partial(gpus, driver=None))
    user.eventually(lambda: user.offers(A100, GPU) == 0)
    assert user.offers(HOST, GPU) == 8
    declare(user, gpus)
    user.eventually(lambda: user.offers(A100, GPU) == 8)


def test_a_driver_without_its_gpu_never_gets_ready(user: User) -> None:
    """A driver on a node without a GPU restarts and is never ready, not even for a moment."""
    pod = platform.obj(kinds.POD, "driver", TENANT)
    container = {"name": "main", "image": "nvcr.io/nvidia/driver:595.91.07-rhcos4.20"}
    pod["spec"] = {"nodeName": "worker", "containers": [container]}
    user.eventually(partial(user.apply, kinds.POD, pod))
    found = partial(user.get, kinds.POD, "driver", TENANT)
    until = time.monotonic() + 240
    while time.monotonic() < until and pods.restarts(seen := found()) < 2:
        assert not pods.condition(seen, "Ready")
    status = found()["status"]["containerStatuses"][0]
    assert status["restartCount"] >= 2
    assert "could not insert 'nvidia': No such device" in status["lastState"]["terminated"]["message"]
