"""The contract's own data: cases and record belong together, and only official providers are recorded."""

from pathlib import Path

import pytest

from tests.contract.provider import recorded
from tests.contract.provider.cases import Case, load
from tests.contract.provider.differences import MOST, Difference, Wanted, compare, idle, unwanted, wanted
from tests.contract.provider.normal import normal
from tests.contract.provider.operations import merged
from tests.contract.provider.record import NotOfficialError, require_official
from tests.contract.provider.wire import decode, encode

_SCHEMA = '{"name": "kubernetes", "resources": {"kubernetes:core/v1:ConfigMap": {}}}'


def test_every_case_is_recorded() -> None:
    """Cases and record have the same names, and there is a result for each step."""
    _, results = recorded.load()
    steps = {case.name: len(case.steps) for case in load()}
    assert steps == {name: len(result) for name, result in results.items()}


def test_there_are_enough_cases() -> None:
    """The table has at least 150 cases."""
    assert len(load()) >= 150


def test_few_differences_are_wanted() -> None:
    """At most ten differences are wanted."""
    assert len(wanted()) <= MOST


def test_the_stand_in_is_not_recorded() -> None:
    """Only an official provider can be recorded, and the error says what to do."""
    with pytest.raises(NotOfficialError, match="is the stand-in /x; put pulumi-resource-kubernetes on PATH"):
        require_official(Path("/x"), official=False, schema=_SCHEMA)


def test_a_provider_without_schema_is_not_recorded() -> None:
    """A provider that was built without its schema is refused: it imports otherwise than a release."""
    with pytest.raises(NotOfficialError, match="/x was built without its schema"):
        require_official(Path("/x"), official=True, schema='{"name": "kubernetes"}')


def test_a_release_is_recorded() -> None:
    """An official provider with its schema passes."""
    require_official(Path("/x"), official=True, schema=_SCHEMA)


def test_normal_form() -> None:
    """Identifiers, times, addresses and random names are named, and owners of fields sorted."""
    live = {
        "uid": "c1d1a6f0-9b0e-4c2f-8a52-2f1f0f8f7a11",
        "resourceVersion": "12",
        "created": "2026-01-01T00:00:00Z",
        "name": "thing-0a1b2c3d",
        "managedFields": [
            {"manager": "z", "operation": "Update", "fieldsV1": {"f:data": {".": {}, "f:a": {}}}},
            {"manager": "pulumi-kubernetes-0a1b2c3d", "operation": "Apply", "fieldsV1": {"f:data": {}}},
        ],
    }
    assert normal(live) == {
        "uid": "<uid>",
        "created": "<time>",
        "name": "thing-<random>",
        "managedFields": ["pulumi-kubernetes-<random> Apply: data", "z Update: data(. a)"],
    }


def test_marks_go_over_the_wire() -> None:
    """Secrets and unknown values come back as they were sent."""
    values = {"a": {"$secret": {"b": 1}}, "c": [{"$unknown": True}, None, 1.5, True]}
    assert decode(encode(values)) == values


def test_merging() -> None:
    """A patch adds, replaces and removes; marks are values."""
    assert merged({"a": {"b": 1, "c": 2}}, {"a": {"b": None, "d": {"$unknown": True}}}) == {
        "a": {"c": 2, "d": {"$unknown": True}}
    }


def test_record_round_trip(tmp_path: Path) -> None:
    """What is written is what is read, repeated objects and keys with slashes included."""
    same = {f"x/{index}": index for index in range(9)}
    case = Case(name="some-case", about="", file="some", steps=({"check": None},))
    results = {"some-case": [{"check": same, "again": {"deep": same}}, same, None, True]}
    source = recorded.Source(provider="1", kubernetes="2")
    recorded.save(source, [case], results, tmp_path)
    assert recorded.load(tmp_path) == (source, results)
    assert (tmp_path / "some.json").read_text().count("x/3") == 1


def test_comparison() -> None:
    """Another type is a difference, an entry covers by case and path, and one that covers nothing is named."""
    found = compare("some-case", [{"a": 1, "b": "x"}], [{"a": True, "b": "x", "c": []}])
    assert found == [Difference("some-case", "[0].a", 1, True), Difference("some-case", "[0].c", "(nothing)", [])]
    entry = Wanted(name="one", reason="because it is a test of these", cases=("some-*",), paths=("*.a",))
    other = Wanted(name="two", reason="because it is a test of these", cases=("other",), paths=("*",))
    assert unwanted(found, [entry]) == found[1:]
    assert idle({"some-case": found}, [entry, other]) == ["two"]
