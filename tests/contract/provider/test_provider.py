"""The provider in use does as was recorded from the official one.

The official provider is held to all of the record, so that a new version shows what changed; the stand-in to all but
the few differences that are wanted.
"""

from typing import Any

import pytest

from tests.contract.provider.conftest import CASES
from tests.contract.provider.differences import Difference, compare, idle, unwanted, wanted
from tests.contract.provider.plugin import Binary
from tests.contract.provider.recorded import load

pytestmark = pytest.mark.engine

SOURCE, RECORDED = load()


def _differences(name: str, results: dict[str, list[Any]]) -> list[Difference]:
    return compare(name, RECORDED[name], results[name])


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, results: dict[str, list[Any]], provider: Binary) -> None:
    """What comes of each step of a case is what was recorded."""
    allowed = () if provider.official else wanted()
    found = unwanted(_differences(name, results), allowed)
    assert not found, f"{CASES[name].about}\nrecorded from {SOURCE.provider}:\n" + "\n".join(map(str, found))


@pytest.mark.every_case
def test_wanted_differences_exist(results: dict[str, list[Any]], provider: Binary) -> None:
    """Every difference that is listed as wanted is one."""
    if provider.official:
        return
    found = {name: _differences(name, results) for name in results}
    assert not idle(found, wanted())
