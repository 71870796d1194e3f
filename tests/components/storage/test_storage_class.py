"""Classes of volumes that are made on demand."""

from typing import Any

import pytest
from pydantic import ValidationError

from components.storage.storage_class import (
    Cache,
    DependentFileset,
    Directory,
    IndependentFileset,
    StorageClass,
    StorageClassArgs,
)
from components.storage.storage_class import parameters as of
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
        (
            Cache(secret="bucket", mode="readonly"),
            {
                "volumeType": "cache",
                "cacheMode": "readonly",
                "csi.storage.k8s.io/provisioner-secret-name": "bucket",
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
        ({"class_name": "static"}, "static is not a class"),
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


@pytest.mark.parametrize(
    ("mode", "access_mode", "writes_back"),
    [(None, "ReadOnlyMany", False), (None, "ReadWriteMany", True), ("readonly", "ReadOnlyMany", False)],
)
def test_a_cache_writes_back_unless_it_is_read_only(mode: Any, access_mode: Any, *, writes_back: bool) -> None:
    """Without a mode the claim's access mode decides, as in the driver."""
    cache = Cache(secret="bucket", mode=mode)
    assert (cache.refuses(access_mode), cache.writes_back(access_mode)) == (None, writes_back)


@pytest.mark.parametrize(
    ("mode", "access_mode", "remedy"),
    [
        ("readonly", "ReadWriteMany", "set access_mode ReadOnlyMany"),
        ("parallel", "ReadOnlyMany", "set mode readonly"),
        ("detached", "ReadOnlyMany", "set mode readonly"),
    ],
)
def test_modes_that_the_driver_refuses(mode: Any, access_mode: Any, remedy: str) -> None:
    """Mode readonly goes with ReadOnlyMany alone, and ReadOnlyMany with no other mode."""
    refused = Cache(secret="bucket", mode=mode).refuses(access_mode)
    assert refused is not None
    assert mode in refused
    assert access_mode in refused
    assert remedy in refused


def test_class_keeps_data_and_passes_our_rules() -> None:
    """A class retains data by default, and the policies have no finding."""
    found = declared(lambda: StorageClass("scale", StorageClassArgs(**ARGS)))
    fields = only(found, "StorageClass")
    assert fields["provisioner"] == "spectrumscale.csi.ibm.com"
    assert fields["reclaimPolicy"] == "Retain"
    assert faults(found) == []
