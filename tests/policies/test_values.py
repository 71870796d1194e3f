"""Reading quantities and unknown values."""

import pytest
from pulumi_policy.proxy import UNKNOWN_ARRAY_VALUE, unknown_checking_proxy

from policies.values import Unknown, plain, whole


@pytest.mark.parametrize(
    ("quantity", "number"),
    [(8, 8), (8.0, 8), ("8", 8), ("1k", 1000), ("1000m", 1), ("1Ki", 1024), ("0", 0), ("-1", -1), ("1e1", 10)],
)
def test_whole(quantity: object, number: int) -> None:
    """A quantity that the API server accepts and a rule misreads."""
    assert whole(quantity) == number


@pytest.mark.parametrize("quantity", ["0.5", "500m", 0.5, "many", "", None, True, "NaN", "Infinity", [1], "1e1m3"])
def test_not_whole(quantity: object) -> None:
    """Something that is no whole number and is taken for one."""
    assert whole(quantity) is None


def test_unknown_values_keep_their_place() -> None:
    """An unknown value that hides its neighbours, or whose finding cannot say where it is."""
    tree = {"a": [{"b": UNKNOWN_ARRAY_VALUE, "c": 1}]}
    expected = {"a": [{"b": Unknown("a[0].b"), "c": 1}]}
    assert plain(tree) == plain(unknown_checking_proxy(tree)) == expected
    assert plain(plain(tree)) == expected
