"""Label selectors, as every room reads them."""

from typing import Any

import pytest

from policies.manifests.values import selects, selects_some


def _among(operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": "a", "operator": operator, **({"values": [*values]} if values else {})}]}


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ({"matchLabels": {"a": "b"}}, True),
        ({"matchLabels": {"a": "x"}}, False),
        (_among("In", "b", "c"), True),
        (_among("In", "x"), False),
        (_among("NotIn", "x"), True),
        (_among("Exists"), True),
        (_among("DoesNotExist"), False),
        (_among("Near", "b"), False),
        (None, False),
    ],
)
def test_selectors(selector: Any, selected: bool) -> None:
    """Labels fit by all of a selector's conditions; what is malformed selects nothing."""
    assert selects(selector, {"a": "b", "c": "d"}) is selected
    assert selects_some(selector, {"a": "b", "c": "d"}) is selected


def test_an_empty_selector() -> None:
    """An empty selector selects everything, but for kinds that select nothing until it has a condition."""
    assert selects({}, {"a": "b"})
    assert not selects_some({}, {"a": "b"})
