"""Classes of volumes that are made on demand."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.storage_class import (
    Cache,
    DependentFileset,
    Directory,
    IndependentFileset,
    StorageClass,
    StorageClassArgs,
)
from components.storage_class import parameters as of
from tests.support.declared import declared, faults, only

ARGS: dict[str, Any] = {"class_name": "scale", "file_system": "ess3000_4M", "cluster_id": "215057217487177715"}
COMMON = {"volBackendFs": "ess3000_4M", "clusterId": "215057217487177715"}


@pytest.mark.parametrize(
    ("volumes", "expected"),
    [
        (IndependentFileset(), {"filesetType": "independent"}),
        (IndependentFileset(inode_limit=1024), {"filesetType": "independent", "inodeLimit": "1024"}),
        (DependentFileset(parent="adas"), {"filesetType": "dependent", "parentFileset": "adas"}),
        (Directory(base_path="adas/volumes"), {"volDirBasePath": "adas/volumes"}),
        (
            Cache(secret="${pvc.name}-secret"),
            {
                "volumeType": "cache",
                "csi.storage.k8s.io/provisioner-secret-name": "${pvc.name}-secret",
                "csi.storage.k8s.io/provisioner-secret-namespace": "${pvc.namespace}",
            },
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_parameters_are_those_that_go_together(volumes: Any, expected: dict[str, str]) -> None:
    """Parameters are those that the driver accepts together."""
    assert of(StorageClassArgs(**ARGS, volumes=volumes)) == COMMON | expected


def test_all_parameters_are_texts() -> None:
    """All parameters are strings."""
    found = of(StorageClassArgs(**ARGS, uid=1075480000, gid=0, permissions="770"))
    assert found == COMMON | {"filesetType": "independent", "uid": "1075480000", "gid": "0", "permissions": "770"}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"class_name": "static"}, "static is no class"),
        ({"gid": 100}, "gid 100 without uid makes root the owner"),
        ({"permissions": "0770"}, "permissions"),
        ({"permissions": "778"}, "permissions"),
        ({"volumes": {"kind": "independent-fileset", "inode_limit": 1000}}, "inode_limit"),
        ({"volumes": {"kind": "directory", "base_path": "/gpfs/fs0"}}, "base_path"),
        ({"volumes": {"kind": "cache", "secret": "${pvc.namespace}-secret"}}, "secret"),
    ],
)
def test_what_the_driver_refuses_is_refused_before(wrong: dict[str, Any], message: str) -> None:
    """Values that the driver would refuse at the first claim are refused."""
    with pytest.raises(ValidationError, match=message):
        StorageClassArgs.model_validate({**ARGS, **wrong})


def test_class_keeps_data_and_passes_our_rules() -> None:
    """A class retains data by default, and the policies have no finding."""
    found = declared(lambda: StorageClass("scale", StorageClassArgs(**ARGS)))
    fields = only(found, "StorageClass")
    assert fields["provisioner"] == "spectrumscale.csi.ibm.com"
    assert fields["reclaimPolicy"] == "Retain"
    assert faults(found) == []
