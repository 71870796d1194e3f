"""Storage that comes or changes."""

from typing import Any

from tests.support.messages import like
from tests.support.reviews import created, deleted, made, reported, review, same, updated
from toolkit.review.subjects import data, storage


def volume(handle: str = "1;2;path=/gpfs/fs0/a") -> Any:
    """Return a volume."""
    spec = {"csi": {"volumeHandle": handle}, "capacity": {"storage": "1Ti"}, "claimRef": {"name": "c"}}
    return made("core/v1:PersistentVolume", {"metadata": {"name": "pv"}, "spec": spec})


def class_(policy: str) -> Any:
    """Return a storage class."""
    return made("storage.k8s.io/v1:StorageClass", {"metadata": {"name": "s"}, "reclaimPolicy": policy})


def test_storage() -> None:
    """A volume with other files, or a class that comes to delete data, is an alarm."""
    assert reported(storage.find, review(created(volume()))) == [
        like("PersistentVolume pv is new ... 1Ti ... 1;2;path=/gpfs/fs0/a ... claim c")
    ]
    assert reported(storage.find, review(updated(volume(), volume("1;2;path=/gpfs/fs0/b")))) == [
        like("PersistentVolume pv changes ... 1;2;path=/gpfs/fs0/b (was 1;2;path=/gpfs/fs0/a)")
    ]
    assert reported(storage.find, review(updated(class_("Retain"), class_("Delete")))) == [
        like("! StorageClass s changes ... Delete (was Retain)")
    ]
    assert reported(storage.find, review(deleted(volume()))) == [], "the data section tells that"
    assert reported(storage.find, review(same(volume()))) == []


def file_system(remote: str = "ess3000_4M") -> Any:
    """Return a file system of container-native Storage Scale."""
    metadata = {"name": "ess", "namespace": "ibm-spectrum-scale"}
    spec = {"remote": {"cluster": "ess", "fs": remote}}
    return made("scale.spectrum.ibm.com/v1beta1:Filesystem", {"metadata": metadata, "spec": spec})


def test_container_native_file_systems() -> None:
    """A file system has the data of all tenants: a review names what mounts it, and what its deletion does."""
    assert reported(storage.find, review(updated(file_system("fs0"), file_system()))) == [
        like("Filesystem ibm-spectrum-scale/ess changes ... ess3000_4M (was fs0)")
    ]
    assert reported(data.find, review(deleted(file_system()))) == [
        like("! Filesystem ibm-spectrum-scale/ess is deleted ... every node unmounts ... jobs ... fail ... data stays")
    ]
