"""Reading quantities and unknown values."""

import pytest
from pulumi_policy.proxy import UNKNOWN_ARRAY_VALUE

from policies.pack.wire import Properties
from policies.values import Unknown, read, show, whole


@pytest.mark.parametrize(
    ("quantity", "number"),
    [(8, 8), (8.0, 8), ("8", 8), ("1k", 1000), ("1000m", 1), ("1Ki", 1024), ("0", 0), ("-1", -1), ("1e1", 10)],
)
def test_whole(quantity: object, number: int) -> None:
    """A quantity that the API server accepts and a rule misreads."""
    assert whole(quantity) == number


@pytest.mark.parametrize(
    "quantity", ["0.5", "500m", 0.5, "many", "", None, True, "NaN", "Infinity", [1], "1e1m3", "1e999999999", "9" * 99]
)
def test_not_whole(quantity: object) -> None:
    """Something that is no whole number and is taken for one."""
    assert whole(quantity) is None


def test_unknown_values_keep_their_place() -> None:
    """An unknown value that hides its neighbours, or whose finding cannot say where it is."""
    tree = {"a": [{"b": UNKNOWN_ARRAY_VALUE, "c": 1}]}
    expected = {"a": [{"b": Unknown(("a", 0, "b")), "c": 1}]}
    found = Properties(tree)
    assert found.tree == expected
    assert found.unknown == [Unknown(("a", 0, "b"))]
    assert read(expected, "a", 0, "b", "deeper") == found.unknown[0]


def test_show() -> None:
    """A path that cannot be read back, since the keys of resources and labels have dots and slashes."""
    path = ("spec", "containers", 0, "resources", "limits", "rdma/shared_ib0")
    assert show(path) == "spec.containers[0].resources.limits[rdma/shared_ib0]"
