"""Kubernetes quantities as numbers."""

import pytest

from core.apis.quantity import parsed, whole


@pytest.mark.parametrize(
    ("quantity", "number"),
    [(8, 8), (8.0, 8), ("8", 8), ("1k", 1000), ("1000m", 1), ("1Ki", 1024), ("0", 0), ("-1", -1), ("1e1", 10)],
)
def test_whole(quantity: object, number: int) -> None:
    """Quantities are read as the API server reads them."""
    assert whole(quantity) == number


@pytest.mark.parametrize(
    "quantity", ["0.5", "500m", 0.5, "many", "", None, True, "NaN", "Infinity", [1], "1e1m3", "1e999999999", "9" * 99]
)
def test_not_whole(quantity: object) -> None:
    """What is not a whole number is not taken for one."""
    assert whole(quantity) is None


@pytest.mark.parametrize(
    ("quantity", "expected"), [("1", 1), ("92G", 92e9), ("100Gi", 100 * 2**30), ("1.5Ti", 1.5 * 2**40), ("2k", 2000)]
)
def test_quantities_are_read_as_kubernetes_reads_them(quantity: str, expected: float) -> None:
    """Decimal and binary suffixes of quantities are distinguished."""
    assert parsed(quantity) == expected


def test_what_is_no_quantity_is_named() -> None:
    """A text that is not a quantity is refused with its value."""
    with pytest.raises(ValueError, match="'many' is not a quantity"):
        parsed("many")
