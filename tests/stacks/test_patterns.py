"""The patterns of settings: what they cost every start of the program."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from stacks.loading.settings import Settings
from stacks.settings.layers import PlatformLayer, TenantsFile

_CLASS = r"\\[wdsWDS]|\[(?:\^(?:\\.|[^\]\\])*|(?:\\.|[^\]\\])*?\\[wdsWDS](?:\\.|[^\]\\])*)\]"
REPEATED = re.compile(rf"(?:{_CLASS})\{{(\d+,)?\d+\}}")
"""A class of Unicode with a bound: compiled once for each repetition, up to 18 ms of CPU for 64 of them."""


def patterns(schema: Any) -> Iterator[str]:
    """Yield the patterns anywhere in a JSON schema."""
    if isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        for each in schema.values():
            yield from patterns(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from patterns(each)


@pytest.mark.parametrize("model", [Settings, PlatformLayer, TenantsFile])
def test_no_class_of_unicode_is_repeated_to_a_bound(model: type[Settings]) -> None:
    r"""Settings write A-Za-z0-9_ for \w, or `max_length` for the bound."""
    found = {*patterns(model.model_json_schema())}
    assert len(found) > 10
    assert [each for each in sorted(found) if REPEATED.search(each)] == []


@pytest.mark.parametrize(
    "pattern", [r"^\w{1,64}$", r"^[A-Za-z0-9][-\w./: ]{0,63}$", r"^[^;=/\s]{1,255}$", r"^[^/]{9}$"]
)
def test_a_repeated_class_of_unicode_is_found(pattern: str) -> None:
    """Shorthands, classes that have one, and negated classes are of Unicode; ASCII ranges are not."""
    assert REPEATED.search(pattern)
    assert not REPEATED.search(r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?-[\w.]+[0-9]{3}$")
