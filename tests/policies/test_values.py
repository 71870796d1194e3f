"""Reading values of manifests, and unknown ones."""

import pytest
from pulumi_policy.proxy import UNKNOWN_ARRAY_VALUE

from policies.manifests.values import Unknown, entries, mapping, read, show
from policies.pack.resources import Properties


def test_unknown_values_keep_their_place() -> None:
    """Reading through an unknown value returns it, with its place."""
    tree = {"a": [{"b": UNKNOWN_ARRAY_VALUE, "c": 1}]}
    expected = {"a": [{"b": Unknown(("a", 0, "b")), "c": 1}]}
    found = Properties(tree)
    assert found.tree == expected
    assert found.unknown == [Unknown(("a", 0, "b"))]
    assert read(expected, "a", 0, "b", "deeper") == found.unknown[0]


def test_show() -> None:
    """A path shows keys with dots and slashes in brackets."""
    path = ("spec", "containers", 0, "resources", "limits", "rdma/shared_ib0")
    assert show(path) == "spec.containers[0].resources.limits[rdma/shared_ib0]"


@pytest.mark.parametrize("tree", [{}, {"a": None}, {"a": "text"}, None, Unknown(())])
def test_entries_and_mappings_of_what_has_none(tree: object) -> None:
    """What has no list, or no mapping, at a path has an empty one, whatever it is."""
    assert entries(tree, "a") == []
    assert mapping(tree, "a") == {}
    assert entries({"a": [tree]}, "a") == [tree]
    assert mapping({"a": {"b": tree}}, "a") == {"b": tree}
