"""Data sets, blocks of the file system, and GPUDirect Storage in `./hpc hardware show`."""

from typing import Any

import pytest

from stacks.loading.settings import parse
from tests.stacks.kit import stack
from tests.support.data_sets import BIKES
from tests.support.stack_settings import changed
from tests.toolkit.datasets.kit import a_choice, image, row, selected
from toolkit.cli.hardware.show import storage
from toolkit.cli.hardware.show.storage import direct_storage, file_system

ROWS = [row(image(number, number), {"bicycle": 5, "car": number % 2}) for number in range(1, 5)]
LOCK = selected(a_choice(name="bikes"), [row(image(1, 1), {"bicycle": 5})]).lock
MIB = 1 << 20
ELSEWHERE = {"name": "data", "kind": "claim", "claim": "c", "storage_class": "nfs", "capacity": "1Ti"}


def sections(**changes: Any) -> Any:
    """Return the sections of a stack whose tenant has a data set of four frames."""
    settings = parse(stack(BIKES | changes), "test")
    choice = a_choice(name="bikes", split={"parts": {"train": 0.5, "validation": 0.5}})
    return storage.data(settings, {("training", "bikes"): selected(choice, ROWS).lock})


def test_a_set_is_planned_with_size_and_time() -> None:
    """Frames, bytes, the part of the volume, and the time at the link's speed are there."""
    (row_,) = sections(link_gbps=0.5)[0].rows
    assert (row_["frames"], row_["files"], row_["part of it, %"]) == (4, 12, "46.9")
    assert row_["to bring it near, s"] == "0 at 0.5 Gb/s"
    assert "at 1 Gb/s, 0 at 10 Gb/s" in sections()[0].rows[0]["to bring it near, s"]


def test_the_papers_set_takes_as_long_as_its_training() -> None:
    """92 GB take 736 s over the paper's network of 1 Gb/s, and 74 s over one of 10 Gb/s."""
    assert storage.seconds(92 * 10**9, 1) == 736
    assert storage.seconds(92 * 10**9, 10) == pytest.approx(73.6)


def test_a_set_that_takes_longer_to_bring_near_than_to_train_with() -> None:
    """The plan warns where link and training are known and the link is the slower one."""
    slow = {"link_gbps": 1e-8, "training_minutes": 1}
    (warning,) = (each for each in sections(**slow)[0].notes if each.startswith("warning: "))
    assert "to bring bikes near takes 384 s at 1e-08 Gb/s, longer than its training of 60 s" in warning
    for changes in ({"link_gbps": 1e-8}, {"link_gbps": 10, "training_minutes": 12}):
        assert not [each for each in sections(**changes)[0].notes if each.startswith("warning: ")]


def test_frames_by_class_of_set_and_splits() -> None:
    """Every class has a row with the frames of the set and of each split; classes without a frame are named."""
    sets, classes = sections()
    found = {each["class"]: each for each in classes.rows}
    assert len(found) == 38
    assert (found["bicycle"]["bikes"], found["bicycle"]["bikes/train"], found["car"]["bikes"]) == (4, 2, 2)
    assert any("bikes has no frame with pedestrian, " in note for note in sets.notes)
    assert any("bikes is split: train 2 (50 %), validation 2 (50 %) frames" in note for note in sets.notes)


def test_a_stack_without_data_sets_has_no_section() -> None:
    """Nothing is printed where there is nothing."""
    assert storage.data(parse(stack(), "test"), {}) == ()


def _volumes(stack: str, **settings: Any) -> tuple[list[tuple[Any, ...]], tuple[str, ...]]:
    (found,) = direct_storage(parse(changed(stack, gpu__gds=True, **settings), "test"))
    return [(row["tenant"], row["storage class"], row["file system"]) for row in found.rows], found.notes


def test_volumes_of_scale_are_on_the_list() -> None:
    """Directories and classes of Storage Scale are read directly, and nothing is to be warned of."""
    assert _volumes("prod") == (
        [
            ("adas", None, "storage-scale"),
            ("perception", None, "storage-scale"),
            ("simulation", "scale-scratch", "storage-scale"),
        ],
        (),
    )


def test_a_class_of_the_cluster_is_not_known() -> None:
    """Of a class that the settings do not describe the plan warns, with the setting that does."""
    rows, (note,) = _volumes("h100-roce")
    assert rows == [("training", "nfs", None)]
    assert "training/data" in note
    assert "gpu.gds_file_systems" in note
    assert _volumes("h100-roce", gpu__gds_file_systems={"nfs": "nfs-rdma"}) == ([("training", "nfs", "nfs-rdma")], ())


def test_stacks_without_it_have_no_such_table() -> None:
    """Without `gds` nothing is shown."""
    assert direct_storage(parse(changed("prod"), "test")) == ()


def _planned(mean_mib: float, block_size: str | None, **more: Any) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    sets = [BIKES | {"volume": "data"}]
    block = {"storage__file_system__block_size": block_size}
    settings = parse(changed("prod", **block, tenants__0__data_sets=sets, **more), "test")
    lock = LOCK.model_copy(update={"bytes": int(LOCK.files * mean_mib * MIB)})
    (found,) = file_system(settings, {("adas", "bikes"): lock})
    return [dict(each) for each in found.rows], found.notes


def test_blocks_as_large_as_files_will_do() -> None:
    """The Redpaper's blocks of 4 MiB are for images of 3 to 4 MiB."""
    expected = {"file system": "ess3000_4M", "block size": "4Mi", "data set": "adas/bikes", "mean file, KiB": 4096}
    assert _planned(4, "4Mi") == ([expected], ())


def test_larger_files_are_warned_of() -> None:
    """A warning names the set, the mean of its files and the block."""
    _, (warning,) = _planned(4.5, "4Mi")
    assert warning.startswith("warning: files of adas/bikes have 4,608 KiB on average, and a block 4Mi: ")
    assert "larger" in warning


def test_what_is_not_compared_says_so() -> None:
    """Without the setting nothing is judged; sets elsewhere are not compared, and no storage has no section."""
    _, (note,) = _planned(9, None)
    assert "storage.file_system.block_size" in note
    ((head,), notes) = _planned(9, "4Mi", tenants__0__volumes=[ELSEWHERE])
    assert (head, notes) == ({"file system": "ess3000_4M", "block size": "4Mi"}, ())
    assert file_system(parse(changed("h100-roce"), "test"), {}) == ()
