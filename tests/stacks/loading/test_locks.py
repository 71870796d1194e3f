"""Data sets of tenants: their settings, and what a preview needs of them, which is their locks."""

from pathlib import Path
from typing import Any

import pytest

from core.datasets import lock
from stacks import environment
from stacks.loading import locks
from stacks.loading.settings import parse
from stacks.resolved.locked_data import Locked
from stacks.settings.origins import SettingsError
from tests.stacks.kit import stack
from tests.support.data_sets import BIKES
from tests.support.recorded import component
from tests.support.stack_settings import expect_message, expect_refusal
from tests.toolkit.datasets.kit import Row, a_choice, image, row, selected

ROWS = [row(image(1), {"bicycle": 5})]


def write(root: Path, name: str = "bikes", rows: list[Row] = ROWS, **choice: Any) -> Path:
    """Write the lock of a data set as `./hpc data select` does."""
    file = root / "data" / f"{name}.lock.json"
    file.parent.mkdir(exist_ok=True)
    wanted = {"name": name, "pixels": BIKES["pixels"], **choice}
    file.write_text(lock.text(selected(a_choice(**wanted), rows).lock))
    return file


def read(content: dict[str, Any], root: Path) -> Locked:
    """Return the locks of settings."""
    return locks.read(parse(content, "test"), root)


def refusal(content: dict[str, Any], root: Path) -> str:
    """Return what is wrong with the locks of settings."""
    with pytest.raises(SettingsError) as error:
        read(content, root)
    return str(error.value)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"volume": "lake"}, "data_sets.bikes: volume lake is none of the volumes … has sets; correct it"),
        ({"pixels": {"bicyle": [1, 2]}}, "tenants[0].data_sets[0]: … 'bicyle' … did you mean bicycle?"),
        ({"pixels": {"bicycle": [5, 2]}}, "tenants[0].data_sets[0].pixels.bicycle: [5, 2] is empty"),
        ({"sql": "drop table metaocean"}, "tenants[0].data_sets[0].sql: is not a field"),
        ({"lock": "../elsewhere.lock.json"}, "tenants[0].data_sets[0].lock: "),
        ({"lock": "data/a.json"}, "tenants[0].data_sets[0].lock: "),
    ],
)
def test_wrong_settings_are_refused(changes: dict[str, Any], expected: str) -> None:
    """Names, windows and volumes are checked without any lock, and SQL has no place in settings."""
    expect_refusal(stack(BIKES | changes), expected)


def test_a_name_is_given_once() -> None:
    """Two data sets of a tenant have two names."""
    content = stack(BIKES, BIKES)
    expect_refusal(content, "data_sets: bikes of training is given twice; give each its own name")


def test_a_preview_needs_the_lock_alone(tmp_path: Path) -> None:
    """What is locked becomes a part of the state, though there is no catalogue anywhere."""
    write(tmp_path)
    wanted = parse(stack(BIKES), "test")
    accounts = environment.placeholder_accounts
    found = component(lambda: environment.build(wanted, accounts(wanted, "nobody"), tmp_path))
    (made,) = (each for each in found if each.type == "hpc:storage:DataSetLock")
    assert made.inputs["lock"]["frames"] == 1
    assert made.inputs["lock"]["frames_by_class"]["bicycle"] == 1


def test_a_missing_lock_is_refused(tmp_path: Path) -> None:
    """A preview without the lock ends with the path and the command that writes it; the settings alone are right."""
    content = stack(BIKES)
    parse(content, "test")
    expected = "tenants: data_sets.bikes of training: data/bikes.lock.json is missing; … `./hpc data select`"
    expect_message(refusal(content, tmp_path), expected)


def test_a_lock_edited_manually_is_refused(tmp_path: Path) -> None:
    """A lock with another content than its seal's is refused in a preview."""
    file = write(tmp_path)
    file.write_text(file.read_text().replace('"frames": 1', '"frames": 2'))
    expect_message(refusal(stack(BIKES), tmp_path), "data/bikes.lock.json: seal … edited manually; … data select")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"pixels": {"bicycle": [2, None]}}, "data/bikes.lock.json was selected with other pixels; run `./hpc data"),
        ({"at_least": {"bicycle": 1}}, "was selected with other at_least"),
        ({"lock": "data/other.lock.json", "name": "other"}, "is missing"),
        (
            {"lock": "data/bikes.lock.json", "name": "other"},
            "data/bikes.lock.json is the lock of bikes; correct `lock`",
        ),
    ],
)
def test_a_lock_of_other_settings_is_refused(tmp_path: Path, changes: dict[str, Any], expected: str) -> None:
    """Settings that changed since a lock was selected are named."""
    write(tmp_path)
    expect_message(refusal(stack(BIKES | changes), tmp_path), expected)


def test_two_data_sets_have_two_locks(tmp_path: Path) -> None:
    """Tenants may have the same data set by one lock, and different ones need a lock each."""
    write(tmp_path)
    content = stack(BIKES)
    other = content["tenants"][0] | {"namespace": "vision", "uid_range": {"start": 1090000000}, "mcs": "s0:c29,c3"}
    other |= {"run_as_uid": 1090000001, "run_as_gid": 1090000001, "gpu_quota": 0}
    content["tenants"].append(other)
    assert len(read(content, tmp_path)) == 2
    other["data_sets"] = [BIKES | {"cameras": ["side_left"]}]
    expected = "data_sets.bikes of training and of vision … data/bikes.lock.json, and differ … give one of them another"
    expect_message(refusal(content, tmp_path), expected)


def test_sets_that_exceed_their_volume_are_refused(tmp_path: Path) -> None:
    """One set, or two of one volume together, must fit into its capacity."""
    write(tmp_path)
    write(tmp_path, "more")
    more = BIKES | {"name": "more"}
    assert len(read(stack(BIKES, more), tmp_path)) == 2
    small = refusal(stack(BIKES, volume={"capacity": "100"}), tmp_path)
    expect_message(small, "volumes.sets.capacity 100 of training is less than data_sets bikes of 120 bytes; raise it")
    both = refusal(stack(BIKES, more, volume={"capacity": "200"}), tmp_path)
    expect_message(both, "capacity 200 … bikes of 120 bytes and more of 120 bytes, 240 together; raise it")
