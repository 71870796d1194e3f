"""How the work for an environment grows, by counting: times would depend on the machine."""

import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from bench.scaled import platform
from core.pulumi_values import REDACTED
from policies.check import Checker
from policies.manifests.inventory import Inventory
from policies.manifests.objects import objects
from stacks import environment
from stacks.loading.settings import PROJECT, parse
from tests.support.recorded import ROOT
from toolkit.render.manifests import manifests
from toolkit.render.recorder import Registration, record

STEEPER = 1.35
"""Of the calls for one more, at twice the size; with the square it would be near 2, in a straight line 1."""


SIZES = (1, 2, 4)


@lru_cache
def _recorded(size: int) -> tuple[Registration, ...]:
    """Return what is declared for so many nodes and tenants, each with a job."""
    settings = parse(platform(Path(ROOT), size, size, size), "test")
    return record(
        lambda: environment.build(settings, environment.placeholder_accounts(settings, REDACTED), Path(ROOT)),
        stack="test",
        project=PROJECT,
    )


def _calls(work: Callable[[], Any]) -> int:
    """Return how many calls, and steps of generators, some work takes."""
    count = 0

    def seen(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def _slopes(measure: Callable[[int], int], sizes: tuple[int, int, int]) -> tuple[float, float]:
    measure(sizes[0])  # what is imported and computed once
    one, two, three = (measure(size) for size in sizes)
    return (two - one) / (sizes[1] - sizes[0]), (three - two) / (sizes[2] - sizes[1])


@pytest.mark.parametrize(
    "of",
    [lambda size: _of(2, size), lambda size: _of(size, 2), lambda size: _of(40, 40, size)],
    ids=["tenants", "nodes", "jobs"],
)
def test_the_checks_of_settings_grow_in_a_straight_line(of: Callable[[int], int]) -> None:
    """The time of the checks is linear in tenants, nodes and jobs."""
    before, after = _slopes(of, (10, 20, 40))
    assert after <= before * STEEPER


def _of(nodes: int, tenants: int, working: int = 1) -> int:
    content = platform(Path(ROOT), nodes, tenants, working)
    return _calls(lambda: parse(content, "test"))


def test_dependencies_grow_in_a_straight_line() -> None:
    """The number of dependencies is linear in tenants."""
    before, after = _slopes(lambda size: sum(len(item.dependencies) for item in _recorded(size)), SIZES)
    assert after == before


def test_the_policies_grow_in_a_straight_line() -> None:
    """The time of the policies is linear in objects."""
    checker = Checker()

    def check(size: int) -> int:
        found = [each for manifest in manifests(_recorded(size)) for each in objects(manifest)]
        return _calls(lambda: list(checker.check(found, Inventory(found, complete=True))))

    check(SIZES[0])  # What is kept between objects is made once.
    before, after = _slopes(check, SIZES)
    assert after <= before * STEEPER
