"""JSON merge patches."""

from typing import Any

import pytest

from core.apis import fields

CASES: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ({"a": 1}, {"a": 1}, {}),
    ({"a": 1, "b": {"c": 1, "d": 2}}, {"b": {"c": 1, "d": 3}, "e": []}, {"a": None, "b": {"d": 3}, "e": []}),
    ({"a": [1, 2]}, {"a": [2]}, {"a": [2]}),
    ({"a": 1}, {"a": True}, {"a": True}),
    ({"a": {"b": 1}}, {"a": "text"}, {"a": "text"}),
]


@pytest.mark.parametrize(("old", "new", "patch"), CASES)
def test_a_patch_makes_the_new_of_the_old(old: dict[str, Any], new: dict[str, Any], patch: dict[str, Any]) -> None:
    """The smallest patch between two values, merged into the old one, is the new one."""
    assert fields.between(old, new) == patch
    assert fields.merged(old, patch) == new


def test_patches_compose() -> None:
    """A composed patch does what both do, and still removes what the first removes."""
    first, second = {"a": None, "b": {"c": 1}}, {"b": {"d": None}, "e": {"f": None}}
    value = {"a": 1, "b": {"c": 0, "d": 0}, "e": {"f": 0, "g": 1}}
    both = fields.composed(first, second)
    assert fields.merged(value, both) == fields.merged(fields.merged(value, first), second)
    assert both == {"a": None, "b": {"c": 1, "d": None}, "e": {"f": None}}
