"""What pods print of their data sets: against the lock, and among themselves."""

from pathlib import Path

import pytest

from tests.support.mutated import read_text
from tests.toolkit.evidence.criteria.cases import status
from toolkit.evidence.tools.hpc_data import DataLog
from toolkit.evidence.verdict import Data, Request, Shape, Status

LOGS = Path(__file__).parent.parent / "logs" / "hpc-data"
PASS = {name: (LOGS / f"{name}.pass.log").read_text() for name in ("data-set", "data-staged", "data-slices")}
LOCK = Data(name="night", digest="ab" * 32, files=8, bytes=800, role="reads")
REDUCED = f"hpc-data reduced name=night digest={'ab' * 32} slices=2 files=8 bytes=800\n"


def request(**changes: object) -> Request:
    """Return the request of a job with the set, of two pods, changed."""
    data = LOCK.model_copy(update=changes)
    return Request(job="adas/train", prints=("hpc-data",), shape=Shape(pods=2, gpus=8), data=data)


@pytest.mark.parametrize(
    ("log", "changes", "expected"),
    [
        (PASS["data-set"], {}, Status.PASS),
        (PASS["data-set"], {"digest": "ac" * 32}, Status.FAIL),
        (PASS["data-set"], {"files": 9}, Status.FAIL),
        (PASS["data-set"].splitlines()[0], {}, Status.MISSING),
        (PASS["data-set"].replace("cached=100.0 host=train-1", "cached=99.9 host=train-1"), {}, Status.WARN),
        ("hpc-data error kind=digest-differs path=x found=ac wanted=ab\n", {}, Status.FAIL),
        ("nothing\n", {}, Status.MISSING),
        (PASS["data-set"] + "hpc-data name=night dig\n", {}, Status.PASS),
    ],
)
def test_pods_see_what_is_locked(log: str, changes: dict[str, object], expected: Status) -> None:
    """Every pod has to show the lock's digest and counts; files that are not cached are a warning."""
    assert status("data-set", log, request(**changes)) is expected


@pytest.mark.parametrize(
    ("log", "changes", "expected"),
    [
        (PASS["data-staged"], {"slices": 2}, Status.PASS),
        (PASS["data-staged"], {"slices": 4}, Status.FAIL),
        (PASS["data-staged"], {"slices": 2, "bytes": 801}, Status.FAIL),
        (PASS["data-staged"], {"slices": 2, "digest": "ac" * 32}, Status.FAIL),
        (PASS["data-staged"].splitlines()[1], {"slices": 2, "slice": 1}, Status.PASS),
        (PASS["data-staged"].splitlines()[1], {"slices": 2, "slice": 0}, Status.FAIL),
        (PASS["data-staged"].replace("cached=100.0", "cached=60.0"), {"slices": 2}, Status.WARN),
        ("nothing\n", {"slices": 2}, Status.MISSING),
    ],
)
def test_stagings_read_all(log: str, changes: dict[str, object], expected: Status) -> None:
    """An Indexed Job has all slices, and each of plain Jobs its own."""
    assert status("data-staged", log, request(role="stages", **changes)) is expected


@pytest.mark.parametrize(
    ("log", "changes", "expected"),
    [
        (PASS["data-slices"], {"role": "slices", "slices": 2}, Status.PASS),
        (PASS["data-slices"], {"role": "slices", "slices": 3}, Status.FAIL),
        (REDUCED, {"role": "reduces", "slices": 2}, Status.PASS),
        (REDUCED, {"role": "reduces", "files": 9}, Status.FAIL),
        ("hpc-data error kind=slice-missing slice=1/2 reason=x\n", {"role": "reduces"}, Status.FAIL),
        ("nothing\n", {"role": "reduces"}, Status.MISSING),
    ],
)
def test_slices_are_proved(log: str, changes: dict[str, object], expected: Status) -> None:
    """The slices of a job by their counts, and all of them by the reducer, which compared their digests."""
    assert status("data-slices", log, request(**changes)) is expected


def test_a_job_without_a_set_is_not_asked() -> None:
    """No criterion applies to a log without the reader's lines of a job without a set."""
    plain = Request(job="adas/train")
    assert {status(name, "nothing\n", plain) for name in PASS} == {None}


def test_lines_of_several_pods_are_one_reading() -> None:
    """Lines with the prefixes of kubectl are read, and a cut one is left."""
    log = "".join(f"[pod/train-{n}/train] {line}\n" for n, line in enumerate(PASS["data-set"].splitlines()))
    (found,) = read_text(log + "[pod/train-1/train] hpc-data name=night digest=ab files=x bytes=1 cached=1 host=a\n")
    assert isinstance(found, DataLog)
    assert [row.host for row in found.rows] == ["train-0", "train-1"]
    assert found.unread_total == 1
