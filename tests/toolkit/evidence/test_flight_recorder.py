"""Dumps of PyTorch's flight recorder, and which rank they show to be stuck."""

import io
import json
import os
import pickle
from pathlib import Path

import pytest

from tests.toolkit.evidence.dumps import content, dump
from toolkit.evidence.criteria.stuck_ranks import CRITERIA
from toolkit.evidence.flight_recorder import pickles
from toolkit.evidence.flight_recorder.dump import FlightRecorder, is_dump, read
from toolkit.evidence.judge import evaluate
from toolkit.evidence.reader import read as read_file
from toolkit.evidence.verdict import Ended, Job, Request, Status


class _Hostile:
    def __init__(self, target: str) -> None:
        self._target = target

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (self._target,)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_hostile_pickle_is_refused_and_not_executed(protocol: int, tmp_path: Path) -> None:
    """A pickle that would call a function is not read; the reading says so in one sentence."""
    file, target = tmp_path / "nccl_trace_rank_3", tmp_path / "made"
    file.write_bytes(pickle.dumps({"entries": [_Hostile(str(target))]}, protocol))
    (reading,) = read_file(file)
    assert not target.exists()
    assert isinstance(reading, FlightRecorder)
    assert (reading.rank, reading.groups, reading.complete) == (3, (), False)
    assert reading.incomplete is not None
    assert reading.incomplete.startswith("not read: it is no plain data: it has the operation ")


@pytest.mark.parametrize(
    "damaged", [b"\x80\x02", b"\x80\x02}(X\x07\x00", b"\x80\x04r\xff\xff\xff\x7f.", b"\x80\x02c", b"\x80\x02]."]
)
def test_a_damaged_pickle_raises_nothing(damaged: bytes) -> None:
    """Pickles that are cut, refer to what is not there, or hold something else are readings without groups."""
    reading = read(io.BytesIO(damaged), "nccl_trace_rank_0")
    assert (reading.complete, reading.groups) == (False, ())
    with pytest.raises(pickles.UnsafeError):
        pickles.load(damaged[:-1])


def test_containers_in_place_of_texts_are_refused() -> None:
    """A list that holds itself a thousand million times is small, and its text is not."""
    nested: list[object] = []
    for _ in range(60):
        nested = [nested, nested]
    data = content(40)
    data["entries"][-1]["pg_id"] = nested
    reading = read(io.BytesIO(pickle.dumps(data, 2)), "nccl_trace_rank_0")
    assert reading.incomplete == "not read: it is no dump of schema 2: TypeError('list in place of a text')"


@pytest.mark.parametrize("as_json", [True, False])
def test_a_dump_is_read_as_pickle_and_as_json(tmp_path: Path, as_json: bool) -> None:
    """Both forms give the rank, its groups, and where the program started the last operation."""
    file = tmp_path / "nccl_trace_rank_12"
    data = content(40, 16)
    file.write_bytes(json.dumps(data).encode() if as_json else pickle.dumps(data, 2))
    (reading,) = read_file(file)
    assert isinstance(reading, FlightRecorder)
    (group,) = reading.groups
    assert (reading.rank, reading.operations, reading.tool_version, reading.complete) == (12, 4, "2.10", True)
    assert (group.name, group.ranks, group.enqueued, group.completed) == ("default_pg", (*range(16),), 40, 39)
    assert (group.last[-1].name, group.last[-1].place) == ("nccl:all_reduce", "/app/train.py:58")


def test_other_files_are_no_dumps() -> None:
    """A log, RAS's JSON and a record of a log store are read by others."""
    for head in (b"step 1\n", b'{"nccl_version": "2.28", "communicators_count": 1', b'{"log":"entries"}', b""):
        assert not is_dump(head)


def _judged(*dumps: FlightRecorder) -> tuple[Status, str]:
    verdict = evaluate(CRITERIA[0], Job(request=Request(job="job"), ended=Ended.UNKNOWN, readings=dumps))
    assert verdict is not None
    return verdict.status, verdict.measured


def test_the_rank_that_did_not_start_an_operation_is_behind() -> None:
    """Those that started it wait, whatever they complete."""
    status, text = _judged(dump(0, 40, 3), dump(1, 38, 3), dump(2, 40, 3))
    assert status is Status.FAIL
    assert text == (
        "rank 1 is behind: it did not start operation 39 of default_pg, in which others wait "
        "(operation 40 of default_pg, nccl:all_reduce)"
    )


def test_a_rank_that_called_something_else_is_named() -> None:
    """Another operation under one number, or one of another size, keeps all waiting."""
    _, text = _judged(dump(0, 40, 3), dump(1, 40, 3), dump(2, 40, 3, name="nccl:all_gather"))
    assert text == "rank 2 called all_gather of [[8]] as operation 40, the others all_reduce of [[8]]"
    _, text = _judged(dump(0, 40, 3), dump(1, 40, 3), dump(2, 40, 3, size=16))
    assert text == "rank 2 called all_reduce of [[16]] as operation 40, the others all_reduce of [[8]]"


def test_ranks_of_a_group_that_was_not_given_as_a_whole_are_not_accused() -> None:
    """The dump of one rank shows nothing of seven others."""
    assert _judged(dump(0, 40, 8)) == (Status.MISSING, "the dump of one rank alone: add those of the others")
    assert _judged(dump(0, 40), dump(1, 40)) == (Status.PASS, "2 ranks at the same operation")
