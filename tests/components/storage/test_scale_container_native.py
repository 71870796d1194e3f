"""Container-native Storage Scale: what IBM's operator gets, and what nodes need for it."""

from typing import Any

import pulumi
import pytest
from pydantic import ValidationError

from components.nodes.kernel_devel import KernelDevel, KernelDevelArgs
from components.storage.scale_container_native import RemoteStorage, ScaleContainerNative, ScaleContainerNativeArgs
from components.storage.scale_csi import GuiAccount
from core.apis import kinds
from tests.conformance.schema import expect_conformity
from tests.support.declared import Manifest, declared, faults, only
from tests.support.recorded import environment, of_kind
from tests.support.scale import ARGS, REMOTE


def made(**changed: Any) -> list[Manifest]:
    """Return what the component declares with some arguments changed."""
    args = ScaleContainerNativeArgs.model_validate(ARGS | changed)
    accounts = {name: GuiAccount(username="u", password="p") for name in args.remote.secrets}
    return declared(lambda: ScaleContainerNative("scale", args, pulumi.Output.secret(accounts)))


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"rdma": {"link": "roce", "ports": ["mlx5_3/1", "mlx5_2/1"]}, "license": "erasure-code"},
        {"host_aliases": {"gui.example.com": "192.0.2.1"}, "network_driver": True},
        {"tolerations": [{"key": "dedicated", "value": "training", "effect": "NoSchedule"}]},
        {"remote": REMOTE | {"csi_account": False}, "ca_certificate": "-----BEGIN CERTIFICATE-----\nAA==\n"},
    ],
)
def test_objects_have_the_fields_of_ibms_definitions(changed: dict[str, Any]) -> None:
    """Every field is one that the operator of 5.2.3.1 reads."""
    found = made(**changed)
    for kind in (kinds.SCALE_CLUSTER, kinds.SCALE_REMOTE_CLUSTER, kinds.SCALE_FILE_SYSTEM):
        expect_conformity(only(found, kind.kind))


def test_accounts_are_where_the_operator_and_the_driver_read_them() -> None:
    """One account for the operator, another one for the CSI driver, each in its namespace."""
    metadata = [each.inputs["metadata"] for each in of_kind(environment("prod"), "Secret")]
    assert {(each["namespace"], each["name"]) for each in metadata} >= {
        ("ibm-spectrum-scale", "cnsa-remote-mount-ess3000"),
        ("ibm-spectrum-scale-csi", "csi-remote-mount-ess3000"),
    }
    gui = only(made(), "RemoteCluster")["spec"]["gui"]
    assert (gui["secretName"], gui["csiSecretName"]) == ("cnsa-remote-mount-ess", "csi-remote-mount-ess")
    assert gui["insecureSkipVerify"] is False


def test_a_newer_storage_cluster_needs_one_account() -> None:
    """From 5.2.3 on the storage cluster needs no second account."""
    found = made(remote=REMOTE | {"csi_account": False})
    assert list(RemoteStorage.model_validate(REMOTE | {"csi_account": False}).secrets) == ["cnsa-remote-mount-ess"]
    assert "csiSecretName" not in only(found, "RemoteCluster")["spec"]["gui"]


@pytest.mark.parametrize(("link", "connection_manager"), [("infiniband", None), ("roce", "enable")])
def test_rdma_names_its_ports(link: str, connection_manager: str | None) -> None:
    """Data go over the ports; the connection manager is for Ethernet alone."""
    daemon = only(made(rdma={"link": link, "ports": ["mlx5_0/1", "mlx5_1/1"]}), "Cluster")["spec"]["daemon"]
    profile = daemon["clusterProfile"]
    assert (profile["verbsRdma"], profile["verbsPorts"]) == ("enable", "mlx5_0/1 mlx5_1/1")
    assert profile.get("verbsRdmaCm") == connection_manager
    assert "verbsRdma" not in only(made(), "Cluster")["spec"]["daemon"]["clusterProfile"]


def test_the_module_is_built_after_a_driver_in_a_container() -> None:
    """Only where a container brings the network's driver the script waits for it."""
    assert [each for each in made() if each["kind"] == "ConfigMap"] == []
    script = only(made(network_driver=True), "ConfigMap")
    assert script["metadata"]["name"] == "buildgpl"
    assert "/run/mellanox/drivers/.driver-ready" in script["data"]["buildgpl"]
    assert "/run/mellanox/drivers" in script["data"]["hostPathDirectories"].splitlines()


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"license_accepted": False}, "license_accepted"),
        ({"mounted_as": "ess3000_4M"}, "mounted_as"),
        ({"remote": REMOTE | {"contact_nodes": []}}, "contact_nodes"),
        ({"remote": REMOTE | {"gui_hosts": ["a", "b", "c", "d"]}}, "gui_hosts"),
        ({"rdma": {"link": "infiniband", "ports": ["mlx5_0 mlx5_1"]}}, "ports"),
        ({"client": {"memory_gib": 2}}, "memory_gib"),
    ],
)
def test_what_the_operator_would_refuse_is_refused_by_field(changed: dict[str, Any], field: str) -> None:
    """A wrong argument is refused by its name."""
    with pytest.raises(ValidationError, match=field):
        ScaleContainerNativeArgs.model_validate(ARGS | changed)


def test_nodes_get_the_headers_of_their_kernel() -> None:
    """The MachineConfig is IBM's own, for any pool."""
    found = declared(lambda: KernelDevel("headers", KernelDevelArgs(pool="worker", ignition_version="3.2.0")))
    config = only(found, "MachineConfig")
    assert config["metadata"]["name"] == "00-worker-ibm-spectrum-scale-kernel-devel"
    assert config["metadata"]["labels"]["machineconfiguration.openshift.io/role"] == "worker"
    assert config["spec"]["extensions"] == ["kernel-devel"]
    assert faults(found) == []
