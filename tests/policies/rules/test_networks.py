"""JSON as Go reads it."""

import pytest

from policies.rules.namespaces.networks import LARGEST, parse_every_value, parse_folded, values


def test_case_does_not_matter() -> None:
    """Keys are the same in any case that Go folds: the long s and the sign for kelvin, too; the last one counts."""
    assert parse_folded('{"Name": 1, "namE": 2, "K": {"name\u017fpace": 3}, "\u212a": 4}') == {"name": 2, "k": 4}
    assert parse_folded('[{"name\u017fpace": 3}]') == [{"namespace": 3}]


def test_every_value_is_there() -> None:
    """All values of a key are at hand, for programs that read the text twice."""
    content = parse_every_value('{"type": "a", "Type": "b", "plugins": [{"TYPE": "c"}]}')
    assert [*values(content, "type")] == ["a", "b"]
    assert [[*values(entry, "type")] for plugins in values(content, "plugins") for entry in plugins] == [["c"]]


@pytest.mark.parametrize("text", ["{", '{"a": 1} {"a": 2}', "[" * 100_000, " " * (LARGEST + 1)])
def test_what_is_no_json(text: str) -> None:
    """What Go refuses raises one error: no JSON, something after it, too deep, too long."""
    with pytest.raises(ValueError, match=r"."):
        parse_folded(text)
