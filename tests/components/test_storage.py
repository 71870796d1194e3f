"""Spectrum Scale CSI and static volumes."""

import pytest
from pydantic import ValidationError

from components.scale_csi import CA, PrimaryFileset, ScaleCluster, ScaleCsiArgs, spec
from components.static_volume import VolumeHandle
from tests.support.recorded import environment, of_kind, one
from tests.support.recorded import spec as recorded_spec

LOCAL = ScaleCluster(
    id="16217308676014575381",
    gui_host="192.168.1.30",
    secret="csisecret-local",
    primary=PrimaryFileset(file_system="fs0", fileset="csifset"),
)

CERTIFICATE = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----"


def test_handle_is_the_papers() -> None:
    """Prevents a handle that the driver cannot parse, which shows only when a pod mounts it (R-4.2-2)."""
    handle = VolumeHandle(cluster_id=LOCAL.id, file_system_uid="099B6A7A:5EB99743", path="/gpfs/ess3000_4M/adas")
    assert str(handle) == "16217308676014575381;099B6A7A:5EB99743;path=/gpfs/ess3000_4M/adas"


@pytest.mark.parametrize(
    "wrong",
    [{"cluster_id": "adas"}, {"file_system_uid": "099B6A7A"}, {"path": "gpfs/adas"}, {"path": "/gpfs;path=/etc"}],
)
def test_malformed_handles_are_refused(wrong: dict[str, str]) -> None:
    """Prevents a path that smuggles another part into the handle."""
    right = {"cluster_id": LOCAL.id, "file_system_uid": "099B6A7A:5EB99743", "path": "/gpfs/adas"}
    with pytest.raises(ValidationError):
        VolumeHandle.model_validate(right | wrong)


def test_driver_knows_both_clusters() -> None:
    """Prevents a driver that cannot reach the file system's owner (R-3.4.5-6)."""
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
    """Prevents TLS verification from being off by default, as in the paper (E-22)."""
    args = ScaleCsiArgs(namespace="csi", host_path="/gpfs/fs0", clusters=(LOCAL,), ca_certificate=CERTIFICATE)
    assert spec(args)["clusters"][0]["secureSslMode"] is True
    assert spec(args)["clusters"][0]["cacert"] == CA
    assert one(environment("dev"), "ConfigMap", CA).inputs["data"].keys() == {CA}


def test_certificates_are_not_verified_against_nothing() -> None:
    """Prevents a driver that ends at its start, for secure SSL mode without a CA."""
    with pytest.raises(ValidationError, match=r"ca_certificate is missing.*give the GUI's CA"):
        ScaleCsiArgs(namespace="csi", host_path="/gpfs/fs0", clusters=(LOCAL,))


def test_all_driver_parts_run_on_scale_clients() -> None:
    """Prevents a driver pod on a node without the file system."""
    fields = recorded_spec(environment("dev"), "CSIScaleOperator")
    for selector in ("attacherNodeSelector", "provisionerNodeSelector", "pluginNodeSelector"):
        assert fields[selector] == [{"key": "scale", "value": "true"}]


def test_secrets_carry_the_operators_label() -> None:
    """Prevents secrets that the operator does not watch, so that a new password is never read."""
    assert {item.inputs["metadata"]["labels"]["product"] for item in of_kind(environment("dev"), "Secret")} == {
        "ibm-spectrum-scale-csi"
    }
