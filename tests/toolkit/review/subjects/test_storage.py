"""Storage that comes or changes."""

from typing import Any

from core.datasets.lock import Lock
from tests.support.messages import like
from tests.support.reviews import created, deleted, made, reported, review, same, updated
from tests.toolkit.datasets.kit import Row, a_choice, image, row, selected
from toolkit.review.subjects import data, storage

HALVES = {"parts": {"train": 0.5, "validation": 0.5}}
BOTH = [row(image(number, number), {"car": 5, "bicycle": int(number == 2)}) for number in range(1, 5)]


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


def locked(rows: list[Row] = BOTH, **choice: Any) -> Any:
    """Return the component of what is locked of some rows."""
    return of(selected(a_choice(**choice), rows).lock.model_dump(mode="json"))


def of(lock: object) -> Any:
    """Return the component of a lock as the state has it."""
    return made(storage.TYPE, {"namespace": "training", "lock": lock}, "training.night-bikes-lock")


def lines(*changes: Any) -> list[str]:
    """Return what is reported of changes."""
    return reported(storage.find_data_sets, review(*changes))


def test_data_sets_that_come_and_go() -> None:
    """A new one is shown with its size, and one that is given up with what stays."""
    size = "4 frames, 12 files, 480 bytes"
    assert lines(created(locked())) == [f"data set night-bikes of training is new: {size}"]
    assert lines(deleted(locked())) == [like("data set night-bikes of training ... removed ... no job ... files stay")]
    assert lines(same(locked())) == []


def test_classes_that_gain_and_lose_frames() -> None:
    """Frames of each class are compared, and a class of which none is left is an alarm."""
    fewer = [BOTH[0], BOTH[2], row(image(7, 7), {"car": 1}), row(image(8, 8), {"car": 1}), row(image(9), {"sky": 3})]
    assert lines(updated(locked(), locked(fewer))) == [
        like("! data set night-bikes of training ... no frame ... bicycle"),
        like(
            "data set night-bikes of training ... 5 frames (was 4) ... 600 bytes (was 480 bytes) ... "
            "fewer of 1 class ... more of 1 class"
        ),
        "  bicycle: 0 (was 1)",
        "  sky: 1 (was 0)",
    ]


def test_other_files_with_the_same_classes() -> None:
    """Frames that are exchanged for like ones are reported as other files."""
    found = lines(updated(locked(BOTH[:1]), locked([row(image(9), {"car": 5})])))
    assert found == [like("data set night-bikes of training ... other files ... 1 frame ... each class")]


def test_splits_and_settings_that_change() -> None:
    """Splits that come, and the settings that chose, are named with their values."""
    found = lines(updated(locked(), locked(split=HALVES, pixels={"car": [1, None]})))
    assert "data set night-bikes of training: splits change: train is new, validation is new" in found
    assert "data set night-bikes of training is chosen by other pixels and split" in found
    assert '  pixels: {"car": [1, null]} (was not set)' in found
    assert lines(updated(locked(split=HALVES), locked()))[0].startswith("! data set night-bikes of training: splits")


def test_a_lock_of_another_version_is_reported() -> None:
    """A lock that cannot be read changes, and nothing is invented."""
    (line,) = lines(updated(of({"frames": "many"}), locked()))
    assert line.startswith("data set night-bikes of training changes, and how cannot be said")
    assert Lock.model_validate(locked().inputs["lock"]).frames == 4
