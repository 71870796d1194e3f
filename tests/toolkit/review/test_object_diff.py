"""Differences of declared fields."""

from typing import Any

import pytest

from core.pulumi_values import REDACTED
from tests.support.reviews import created, deleted, made, review, updated
from toolkit.review import terminal
from toolkit.review.model import CHANGED, UNKNOWN, Change, Op
from toolkit.review.object_diff import difference, is_counted


def lines(before: Any, after: Any, **more: Any) -> list[str]:
    """Return what differs between two specs."""
    sides = [made("x/v1:X", {"metadata": {"name": "t"}, "spec": spec}, "n") for spec in (before, after)]
    return difference(Change(Op.UPDATE, sides[0], sides[1], **more))


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ({"a": 1, "same": [1, 2]}, {"a": 2, "same": [1, 2]}, ["  spec:", "-   a: 1", "+   a: 2"]),
        ({"a": "1"}, {"a": 1}, ["  spec:", '-   a: "1"', "+   a: 1"]),
        ({}, {"a": {"b": [], "c": {}}}, ["  spec:", "+   a:", "+     b: []", "+     c: {}"]),
        ({"a": REDACTED}, {"a": CHANGED}, ["  spec:", "-   a: (secret)", "+   a: (another secret)"]),
        ({"a": 1}, {"a": UNKNOWN}, ["  spec:", "-   a: 1", "+   a: (unknown until the update)"]),
        (
            {"c": [{"name": "p", "i": 1}, {"name": "q", "i": 1}]},
            {"c": [{"name": "q", "i": 2}, {"name": "p", "i": 1}]},
            ["  spec:", "    c:", "      - name: q", "-       i: 1", "+       i: 2"],
        ),
        ({"l": ["a", "b", "c"]}, {"l": ["a", "c", "d"]}, ["  spec:", "    l:", "-     - b", "+     - d"]),
        (
            {"s": "one\ntwo\nthree\nfour\n"},
            {"s": "one\ntwo\nthree\n4\n"},
            ["  spec:", "    s: |", "      …", "      two", "      three", "-     four", "+     4", ""],
        ),
    ],
)
def test_only_what_differs_is_shown(before: Any, after: Any, shown: list[str]) -> None:
    """A difference shows only the fields that differ, with entries of lists matched by name."""
    assert lines(before, after) == shown


def test_what_forces_a_replacement_is_marked() -> None:
    """Fields that force a replacement are marked."""
    assert lines({"a": 1, "b": 1}, {"a": 2, "b": 2}, replaced_for=("spec.a",)) == [
        "  spec:",
        "-   a: 1",
        "+   a: 2  # forces replacement",
        "-   b: 1",
        "+   b: 2",
    ]


def test_long_values_are_short() -> None:
    """Long texts are shortened around their difference."""
    found = lines({"a": "QUJD" * 100}, {"a": "QUJE" * 100})
    assert found[1].startswith("-   a: (base64, 400 characters, sha256 ")
    assert found[1] != found[2].replace("+", "-", 1)
    found = lines({"a": "x y " * 200 + "one"}, {"a": "x y " * 200 + "two"})
    assert found[1].endswith('one"') and found[2].endswith('two"')  # noqa: PT018
    assert lines({"a": "1"}, {"a": "-----BEGIN CERTIFICATE-----\n" + "x\n" * 50})[2].startswith("+   a: (certificate, ")


def test_texts_in_urls_are_read() -> None:
    """Ignition's files are shown decoded."""
    before, after = ({"source": f"data:,one%0Atwo%0A{last}%0A"} for last in ("three", "3"))
    assert lines(before, after)[-3:] == ["-     three", "+     3", ""]


def test_objects_that_come_and_go() -> None:
    """Resources without fields have no difference."""
    thing = made("x/v1:X", {"metadata": {"name": "t"}, "apiVersion": "x/v1", "kind": "X"})
    assert difference(created(thing)) == ["+ metadata:", "+   name: t"]
    assert difference(deleted(thing)) == ["- metadata:", "-   name: t"]
    assert difference(updated(thing, thing)) == []


def test_there_is_an_end() -> None:
    """The lines of one object are limited."""
    assert difference(created(made("x/v1:X", {"l": list(range(500))})), 10)[-1] == "… more lines differ"
    deep: Any = 1
    for _ in range(300):
        deep = {"a": deep}
    assert difference(created(made("x/v1:X", {"l": deep})), 1000)[-1].endswith("(deeper than is shown)")


def test_long_texts_are_counted() -> None:
    """Of a text with many lines, such as a dashboard, a terminal gets how many there are, or how many differ."""
    text = "".join(f"line {number}\n" for number in range(40))
    dashboards, other = (
        made("core/v1:ConfigMap", {"metadata": {"name": "c"}, "data": {"d.json": each, "short": "a\nb\n"}})
        for each in (text, text.replace("line", "row"))
    )
    found = difference(created(dashboards), texts=20)
    assert found[2:] == ["+ data:", "+   d.json: (40 lines)", "+   short: |", "+     a", "+     b", "+"]
    assert [line for line in found if is_counted(line)] == [found[3]]
    assert len(difference(created(dashboards))) > len(found) + 30
    assert difference(updated(dashboards, other), texts=20) == ["  data:", "~   d.json: (40 lines added, 40 removed)"]
    written = terminal.write(review(created(dashboards)))
    assert ("(40 lines)" in written, "line 39" in written, "--json FILE" in written) == (True, False, True)
