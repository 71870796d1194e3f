"""YAML in C: it says what Python's own reader says, of right and of wrong texts."""

import pytest
import yaml

from core.yaml.places import composed, line, position, value
from core.yaml.text import documents, read
from tests.support.recorded import ROOT
from tests.support.stack_settings import expect_message


@pytest.mark.parametrize("file", ["Pulumi.prod.yaml", "docs/coverage/redpaper.yaml"])
def test_a_text_means_the_same(file: str) -> None:
    """Both readers return the same content."""
    text = (ROOT / file).read_text()
    assert read(text) == yaml.safe_load(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a:\n\tb: 1\n", "2:1: a tab; replace it by spaces, with which YAML is indented"),
        ("a: b: c", "1:5: a colon inside a value; quote the value"),
        ("a:b\nc: 1\n", "2:2: a field below a value; begin it …, and write a space behind each colon"),
        ("a: 1\nb\nc: 2\n", "2:1: a line that is no field and no entry; write `field: value` or `- entry`"),
        ("a: [1, 2\nb: 3\n", "1:4: a list begins here, and ] or a comma is missing in it; add it"),
        ("a: {x: 1\nb: 3\n", "1:4: a map begins here, and } …; add it"),
        ("a:\n  b: 1\n c: 2\n", "3:2: indented otherwise …; begin the entries of one list or map in one column"),
        ("a: 'it's'\n", "1:8: text follows a quoted value; quote all of it, and write a ' inside '...' twice"),
        ("a: 'x\nb: 3\n", "1:4: a quote that is never closed; close it"),
        ("a: @b", "1:4: a value cannot begin with this sign; quote it"),
        ("a: *b", "1:4: an alias * without its anchor & above; quote it"),
        ("a: &x 1\nb: &x 2\n", "2:4: an anchor & that is given twice; rename one"),
        ("a: !x b", "1:4: a tag ! that means nothing here; leave it out"),
        ("a: {{ b }}", "1:5: a list or map in place of a field's name; quote it"),
        ("a: 1\n---\nb: 2\n", "2:1: a second document begins; leave one"),
        ("a: - b", "1:4: an entry of a list behind its field; begin it in a line of its own"),
        ('a: "\\d"', "1:6: no escape in double quotes; use single ones"),
        ("a: , b", "1:4: a value is missing; write it"),
        ("<<: 1", "1:5: << merges maps alone; name one"),
        ("a: |x\n  b\n", "1:5: …; correct it"),
        ("a: b\x00", "1:5: a character that YAML does not have (#x0000); remove it"),
        ("until: 2027-13-31", "1:8: a date or a number that does not exist (month …); correct it, or quote it"),
        ("ports:\n  mtu: 9000\n  mtu: 9216\n", "3:3: mtu is given twice; remove one"),
    ],
)
def test_an_error_is_one_line_with_place_and_remedy(text: str, expected: str) -> None:
    """An error has line and column, what is wrong in words of the field, and what to write."""
    with pytest.raises(yaml.YAMLError) as caught:
        read(text)
    assert "\n" not in str(caught.value)
    expect_message(str(caught.value), expected)


def test_what_is_merged_may_be_overridden() -> None:
    """A key beside `<<` that is in the merged map, too, is no key that is given twice."""
    merged = "z: &z {k: 0}\nx:\n  y: &y {<<: *z, k: 1}\nb: {<<: *y, k: 2}\n"
    assert read(merged) == {"z": {"k": 0}, "x": {"y": {"k": 1}}, "b": {"k": 2}}


@pytest.mark.parametrize("level", ["{a: ", "- ", "? "])
def test_depth_is_an_error(level: str) -> None:
    """Too deep nesting is an error."""
    with pytest.raises(RecursionError):
        read(level * 100_000)


def test_scalars_of_manifests_are_those_of_kubernetes() -> None:
    """Dates and numbers of base 60 are texts, words are Booleans, and quoted or tagged values are texts."""
    lines = ("a: 2026-11-28", "b: 12:30", "c: yes", "d: 1e3", "e: '1'", "f: !!str 1", "g: |", "  2", "h: 0644", "i:")
    (_, first), (_, second) = documents("\n".join((*lines, "---", "---", "[1]")))
    values = ["2026-11-28", "12:30", True, 1000, "1", "1", "2\n", 420, None]
    assert first == dict(zip("abcdefghi", values, strict=True))
    assert second == [1]


TEXT = """\
config:
  nodes:
  - name: dgx01
    cpus: 40
  - name: dgx02
  <<: {more: 1}
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ((), 0),
        (("config", "nodes"), 1),
        (("config", "nodes", 0, "cpus"), 3),
        (("config", "nodes", 1), 4),
        (("config", "nodes", 1, "cpus"), 4),
        (("config", "nodes", 2, "name"), 1),
        (("config", "more"), 0),
    ],
)
def test_the_line_of_a_path_or_of_what_would_hold_it(path: tuple[str | int, ...], expected: int) -> None:
    """A key and an entry have their own line; what is missing has that of the nearest part."""
    assert line(composed(TEXT), path) == expected


@pytest.mark.parametrize(
    ("path", "of_key", "expected"),
    [
        (("config", "nodes", 0, "cpus"), False, (4, 11)),
        (("config", "nodes", 0, "cpus"), True, (4, 5)),
        (("config", "nodes"), False, (2, 3)),
        (("config", "nodes", 1), False, (5, 5)),
        (("config", "nodes", 1, "cpus"), False, (5, 5)),
        (("nodes",), False, None),
    ],
)
def test_the_position_of_a_value(path: tuple[str | int, ...], of_key: bool, expected: tuple[int, int] | None) -> None:
    """A value has its line and column; one below its key, and one that is missing, has those of what holds it."""
    assert position(composed(TEXT), path, of_key=of_key) == expected


def test_a_value_by_its_keys() -> None:
    """Keys lead to a value, or to none."""
    assert [each.value for each in value(composed(TEXT), "config", "nodes").value[1].value[0]] == ["name", "dgx02"]
    assert value(composed(TEXT), "config", "nodes", "name") is None
    assert value(composed(""), "config") is None
