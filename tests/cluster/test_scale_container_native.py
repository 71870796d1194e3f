"""Container-native Storage Scale on a simulated cluster: a missing part keeps the file system away, with a message."""

from collections.abc import Iterator
from typing import Any

import pulumi
import pytest

from components.nodes.kernel_devel import KernelDevel, KernelDevelArgs
from components.storage.scale_container_native import ScaleContainerNative, ScaleContainerNativeArgs
from components.storage.scale_csi import GuiAccount
from core.apis import kinds
from core.apis.names import SCALE_CORE, SCALE_CSI_NAMESPACE, SCALE_NAMESPACE
from tests.support.clusters import running
from tests.support.declared import Manifest, declared
from tests.support.scale import ARGS
from tests.support.user import User
from toolkit.simulator import names
from toolkit.simulator.actors.api import SCALE_DAEMON
from toolkit.simulator.manifests import manifest
from toolkit.simulator.state import ClusterSpec, NodeSpec

pytestmark = pytest.mark.cluster

WORKERS = ("worker01", "worker02", "worker03")
SPEC = ClusterSpec(
    name="test-scale",
    nodes=(NodeSpec(name="master01", roles=("master",)), *(NodeSpec(name=name) for name in WORKERS)),
    release="current",
    mpi="v2beta1",
    storage_scale=True,
)
FILE_SYSTEM = (kinds.SCALE_FILE_SYSTEM, "ess", SCALE_NAMESPACE)


@pytest.fixture(scope="module")
def user() -> Iterator[User]:
    """Run a cluster with IBM's operator and labelled workers, and give access to it."""
    with running(SPEC) as cluster:
        user = User.of(cluster.kubeconfig)
        for name in WORKERS:
            user.patch(kinds.NODE, name, {"metadata": {"labels": {SCALE_CORE: ""}}})
        yield user


def apply(user: User, *manifests: Manifest) -> None:
    """Apply what a component declares."""
    for each in manifests:
        kind = kinds.find(each["apiVersion"], each["kind"])
        assert kind is not None
        user.apply(kind, each)


def parts() -> dict[str, Manifest]:
    """Return what the component declares, by kind; Secrets are not among manifests."""
    args = ScaleContainerNativeArgs.model_validate(ARGS)
    accounts = pulumi.Output.secret({name: GuiAccount(username="u", password="p") for name in args.remote.secrets})
    return {each["kind"]: each for each in declared(lambda: ScaleContainerNative("scale", args, accounts))}


def secret(name: str, namespace: str) -> Manifest:
    """Return an account of the storage cluster's GUI."""
    return manifest(kinds.SECRET, name, namespace, stringData={"username": "u", "password": "p"})


def why(user: User) -> str:
    """Return why the file system is not mounted, nothing before the operator has seen it."""
    status = user.get(*FILE_SYSTEM).get("status") or {}
    found = {each["type"]: each["message"] for each in status.get("conditions") or []}
    return str(found.get("Success", ""))


def test_each_part_that_is_missing_is_named_until_claims_can_be_bound(user: User) -> None:
    """Headers, accounts and contact nodes are causes; then the file system is mounted, and the driver appears."""
    made = parts()
    remote: dict[str, Any] = made["RemoteCluster"]
    apply(user, made["Cluster"], remote | {"spec": remote["spec"] | {"contactNodes": []}}, made["Filesystem"])
    user.eventually(lambda: "kernel-devel" in why(user))
    assert user.list(kinds.CSI_SCALE_OPERATOR, SCALE_CSI_NAMESPACE)["items"] == []
    apply(user, *declared(lambda: KernelDevel("h", KernelDevelArgs(pool="worker", ignition_version="3.2.0"))))
    user.eventually(lambda: why(user).startswith("RemoteCluster ess is not ready: secret"), seconds=300)
    assert "cnsa-remote-mount-ess not found" in why(user)
    apply(user, secret("cnsa-remote-mount-ess", SCALE_NAMESPACE))
    user.eventually(lambda: f"{SCALE_CSI_NAMESPACE}/csi-remote-mount-ess not found" in why(user))
    apply(user, secret("csi-remote-mount-ess", SCALE_CSI_NAMESPACE))
    user.eventually(lambda: "contactNodes names no node" in why(user))
    apply(user, remote)
    user.eventually(lambda: user.condition(*FILE_SYSTEM, "Success"))
    user.eventually(
        lambda: user.condition(kinds.CSI_SCALE_OPERATOR, "ibm-spectrum-scale-csi", SCALE_CSI_NAMESPACE, "Success")
    )
    daemon = user.get(SCALE_DAEMON, "ibm-spectrum-scale", SCALE_NAMESPACE)
    assert daemon["status"]["clusterID"] == names.SCALE_CLUSTER_ID


def test_a_node_without_the_label_has_no_client(user: User) -> None:
    """A core pod goes with the label, and two nodes have no quorum."""
    user.patch(kinds.NODE, WORKERS[0], {"metadata": {"labels": {SCALE_CORE: None}}})
    user.eventually(lambda: "2 nodes have the label" in why(user))
    assert WORKERS[0] not in {each["metadata"]["name"] for each in user.pods(SCALE_NAMESPACE)}
    user.patch(kinds.NODE, WORKERS[0], {"metadata": {"labels": {SCALE_CORE: ""}}})
    user.eventually(lambda: user.condition(*FILE_SYSTEM, "Success"))
