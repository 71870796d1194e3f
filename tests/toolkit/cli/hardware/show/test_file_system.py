"""Blocks of the file system in `./hpc hardware show`."""

from typing import Any

from stacks.loading.settings import parse
from tests.support.data_sets import BIKES
from tests.support.stack_settings import changed
from tests.toolkit.datasets.kit import a_choice, image, row, selected
from toolkit.cli.hardware.show.file_system import file_system

LOCK = selected(a_choice(name="bikes"), [row(image(1, 1), {"bicycle": 5})]).lock
MIB = 1 << 20


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


ELSEWHERE = {"name": "data", "kind": "claim", "claim": "c", "storage_class": "nfs", "capacity": "1Ti"}
