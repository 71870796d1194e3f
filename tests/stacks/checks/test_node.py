"""How many masters and workers a cluster has."""

import pytest

from stacks.checks import node
from stacks.loading.settings import load
from tests.support.messages import has
from tests.support.recorded import OURS, ROOT


def warnings(*left_out: str) -> list[str]:
    """Return the warnings of the Redpaper's cluster without some of its nodes."""
    settings = load("redpaper-4.4", ROOT)
    kept = tuple(entry for entry in settings.nodes if not entry.name.startswith(left_out))
    return [*node.warnings(settings.model_copy(update={"nodes": kept}))]


def test_three_masters_and_two_workers_are_enough() -> None:
    """The Redpaper's cluster has what it needs, and so has it without the virtual workers."""
    assert warnings("none") == warnings("worker") == []


@pytest.mark.parametrize(
    ("left_out", "expected"),
    [
        (("master03",), ("2 of the listed nodes are masters", "needs 3", "add some")),
        (("worker", "dgx02"), ("1 of the listed nodes are workers", "need 2", "add some")),
    ],
)
def test_fewer_are_a_warning(left_out: tuple[str, ...], expected: tuple[str, ...]) -> None:
    """Too few are counted, with what they are needed for."""
    (warning,) = warnings(*left_out)
    assert has(warning, *expected)


def test_nodes_without_masters_are_a_part() -> None:
    """Where no master is listed, nothing is known of the whole cluster."""
    assert warnings("master", "worker", "dgx02") == []


@pytest.mark.parametrize("stack", OURS)
def test_every_stack_of_ours_has_enough(stack: str) -> None:
    """No stack of this repository is below."""
    assert [*node.warnings(load(stack, ROOT))] == []
