"""Spectrum Scale CSI and static volumes."""

from typing import Any

import pulumi
import pytest
from pydantic import ValidationError

from components.base.scheduling import Toleration
from components.storage.scale_csi import CA, GuiAccount, PrimaryFileset, ScaleCluster, ScaleCsi, ScaleCsiArgs, spec
from components.storage.static_volume import (
    AnyHandle,
    FilesetHandle,
    LongHandle,
    StaticVolume,
    StaticVolumeArgs,
    VolumeHandle,
)
from tests.conformance.schema import expect_conformity
from tests.support.declared import Manifest, declared, faults, only
from tests.support.recorded import environment, of_kind, only_object
from tests.support.recorded import spec as recorded_spec

LOCAL = ScaleCluster(
    id="16217308676014575381",
    gui_host="192.168.1.30",
    secret="csisecret-local",
    primary=PrimaryFileset(file_system="fs0", fileset="csifset"),
)

CERTIFICATE = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----"


def test_handle_is_the_papers() -> None:
    """The three-part handle is the Redpaper's."""
    handle = VolumeHandle(cluster_id=LOCAL.id, file_system_uid="099B6A7A:5EB99743", path="/gpfs/ess3000_4M/adas")
    assert str(handle) == "16217308676014575381;099B6A7A:5EB99743;path=/gpfs/ess3000_4M/adas"


PLACE: dict[str, Any] = {"cluster_id": LOCAL.id, "file_system_uid": "099B6A7A:5EB99743", "path": "/gpfs/fs0/adas"}


@pytest.mark.parametrize(
    ("handle", "text"),
    [
        (FilesetHandle(fileset=7, **PLACE), f"{LOCAL.id};099B6A7A:5EB99743;fileset=7;path=/gpfs/fs0/adas"),
        (FilesetHandle(fileset="adas", **PLACE), f"{LOCAL.id};099B6A7A:5EB99743;filesetName=adas;path=/gpfs/fs0/adas"),
        (LongHandle(independent_fileset=None, **PLACE), f"0;0;{LOCAL.id};099B6A7A:5EB99743;;;/gpfs/fs0/adas"),
        (LongHandle(independent_fileset="adas", **PLACE), f"0;2;{LOCAL.id};099B6A7A:5EB99743;;adas;/gpfs/fs0/adas"),
    ],
)
def test_longer_handles_are_what_the_driver_and_our_rules_read(handle: AnyHandle, text: str) -> None:
    """Handles of four and seven parts have the driver's form."""
    args = StaticVolumeArgs(volume_name="adas-pv", claim_name="adas-pvc", handle=handle, capacity="100Gi")
    assert args.handle is handle
    found = declared(lambda: StaticVolume("adas", args, "adas"))
    assert only(found, "PersistentVolume")["spec"]["csi"]["volumeHandle"] == text
    assert faults(found) == []


@pytest.mark.parametrize("name", ["", "a;b", "a=b", "a b", "a/b"])
def test_fileset_names_do_not_break_the_handle(name: str) -> None:
    """Fileset names with separators of the handle are refused."""
    for make in (lambda: FilesetHandle(fileset=name, **PLACE), lambda: LongHandle(independent_fileset=name, **PLACE)):
        with pytest.raises(ValidationError):
            make()


@pytest.mark.parametrize(
    "wrong",
    [{"cluster_id": "adas"}, {"file_system_uid": "099B6A7A"}, {"path": "gpfs/adas"}, {"path": "/gpfs;path=/etc"}],
)
def test_malformed_handles_are_refused(wrong: dict[str, str]) -> None:
    """Paths and ids with separators of the handle are refused."""
    right = {"cluster_id": LOCAL.id, "file_system_uid": "099B6A7A:5EB99743", "path": "/gpfs/adas"}
    with pytest.raises(ValidationError):
        VolumeHandle.model_validate(right | wrong)


def test_driver_knows_both_clusters() -> None:
    """The driver has both clusters of the Redpaper."""
    clusters = recorded_spec(environment("dev"), "CSIScaleOperator")["clusters"]
    assert clusters == [
        {
            "id": "16217308676014575381",
            "primary": {"primaryFs": "fs0", "primaryFset": "csifset"},
            "restApi": [{"guiHost": "192.168.1.30"}],
            "secrets": "csisecret-local",
            "secureSslMode": True,
            "cacert": "scale-gui-ca",
        },
        {
            "id": "215057217487177715",
            "restApi": [{"guiHost": "192.168.1.52"}],
            "secrets": "csisecret-remote",
            "secureSslMode": True,
            "cacert": "scale-gui-ca",
        },
    ]


def test_certificates_are_verified_unless_told_otherwise() -> None:
    """Certificates are verified by default."""
    args = ScaleCsiArgs(namespace="csi", host_path="/gpfs/fs0", clusters=(LOCAL,), ca_certificate=CERTIFICATE)
    assert spec(args)["clusters"][0]["secureSslMode"] is True
    assert spec(args)["clusters"][0]["cacert"] == CA
    assert only_object(environment("dev"), "ConfigMap", CA).inputs["data"].keys() == {CA}


def test_certificates_are_not_verified_against_nothing() -> None:
    """Verification without a CA is refused."""
    with pytest.raises(ValidationError, match=r"ca_certificate is missing.*give the GUI's CA"):
        ScaleCsiArgs(namespace="csi", host_path="/gpfs/fs0", clusters=(LOCAL,))


def test_all_driver_parts_run_on_scale_clients() -> None:
    """All parts of the driver select Spectrum Scale clients."""
    fields = recorded_spec(environment("dev"), "CSIScaleOperator")
    for selector in ("attacherNodeSelector", "provisionerNodeSelector", "pluginNodeSelector"):
        assert fields[selector] == [{"key": "scale", "value": "true"}]


def test_secrets_carry_the_operators_label() -> None:
    """Secrets have the label that the operator watches."""
    assert {item.inputs["metadata"]["labels"]["product"] for item in of_kind(environment("dev"), "Secret")} == {
        "ibm-spectrum-scale-csi"
    }


REMOTE = ScaleCluster(id="215057217487177715", gui_host="192.168.1.52", secret="csisecret-remote")
CURRENT: dict[str, Any] = {
    "generation": "3",
    "namespace": "csi",
    "local_cluster": LOCAL.id,
    "clusters": (LOCAL.model_copy(update={"primary": None}), REMOTE),
    "ca_certificate": CERTIFICATE,
}


def driver(**changed: Any) -> list[Manifest]:
    """Return what a driver of generation 3 consists of."""
    args = ScaleCsiArgs.model_validate({**CURRENT, **changed})
    nobody = GuiAccount(username="csi", password="x")
    accounts = pulumi.Output.from_input({cluster.secret: nobody for cluster in args.clusters})
    return declared(lambda: ScaleCsi("scale-csi", args, accounts))


def test_driver_3_says_which_cluster_is_local() -> None:
    """Driver 3 names the local cluster, without the fields of 2020."""
    fields = only(driver(), "CSIScaleOperator")["spec"]
    selector = [{"key": "scale", "value": "true"}]
    parts = ("attacher", "provisioner", "plugin", "snapshotter", "resizer")
    assert fields == {
        "localScaleCluster": LOCAL.id,
        "clusters": [
            {
                "id": cluster.id,
                "restApi": [{"guiHost": cluster.gui_host}],
                "secrets": cluster.secret,
                "secureSslMode": True,
                "cacert": CA,
            }
            for cluster in (LOCAL, REMOTE)
        ],
        **{f"{part}NodeSelector": selector for part in parts},
    }


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"clusters": (LOCAL, REMOTE)},
        {"tolerations": (Toleration(key="nvidia.com/gpu", effect="NoSchedule"), Toleration(key="a", value="b"))},
    ],
    ids=["plain", "primary", "tolerations"],
)
def test_driver_3_has_the_shape_of_its_definition(changed: dict[str, Any]) -> None:
    """The resource of driver 3 matches its definition, and the policies have no finding."""
    found = driver(**changed)
    expect_conformity(only(found, "CSIScaleOperator"))
    assert faults(found) == []


WITH_PRIMARY = (LOCAL, REMOTE)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"local_cluster": None, "clusters": WITH_PRIMARY}, "local_cluster is missing, and generation 3"),
        ({"local_cluster": "1"}, "local_cluster 1 is none of the clusters"),
        ({"host_path": "/gpfs/fs0"}, "generation 3 of the driver has no host_path"),
        (
            {"generation": "2.0", "local_cluster": None, "clusters": WITH_PRIMARY},
            "host_path is missing, and generation 2.0",
        ),
        ({"generation": "2.0", "host_path": "/gpfs/fs0"}, "generation 2.0 of the driver has no local_cluster"),
        ({"generation": "2.0", "host_path": "/gpfs/fs0", "local_cluster": None}, "clusters: 0 have a primary fileset"),
    ],
)
def test_fields_of_the_other_generation_are_refused(changed: dict[str, Any], message: str) -> None:
    """Fields of the other generation, and missing ones, are refused."""
    with pytest.raises(ValidationError, match=message):
        ScaleCsiArgs.model_validate({**CURRENT, **changed})
