"""Finding a bad node by tests of groups."""

import math
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from toolkit.evidence.fitness import Group, Narrowed, narrow

NODES = st.integers(3, 64).map(lambda count: [f"dgx{number:02}" for number in range(count)])


def search(nodes: Sequence[str], bad: str) -> tuple[Narrowed, int]:
    """Test what is proposed until nothing is; return the end, and the number of tests after that of all nodes."""
    results: dict[Group, bool] = {frozenset(nodes): False}
    found = narrow(nodes, results)
    while found.next:
        group = frozenset(found.next)
        assert group not in results
        assert len(group) > 1
        assert group <= {*nodes}
        results[group] = bad not in group
        found = narrow(nodes, results)
    return found, len(results) - 1


@given(nodes=NODES, data=st.data())
def test_one_bad_node_of_many_is_found(nodes: list[str], data: st.DataObject) -> None:
    """Wherever it is, it is found and no other, by halves: some tests more than the logarithm of the nodes."""
    bad = data.draw(st.sampled_from(nodes))
    found, tests = search(nodes, bad)
    assert (found.bad, found.suspects) == ((bad,), ())
    assert tests <= math.ceil(math.log2(len(nodes))) + 2


@given(nodes=NODES, data=st.data())
def test_a_good_node_is_never_blamed(nodes: list[str], data: st.DataObject) -> None:
    """Whatever was tested, with any bad nodes, each node that is called bad is bad, and each good one is good."""
    bad = data.draw(st.sets(st.sampled_from(nodes)))
    groups = data.draw(st.lists(st.sets(st.sampled_from(nodes), min_size=2).map(frozenset), max_size=12))
    found = narrow(nodes, {group: not group & bad for group in groups})
    assert {*found.bad} <= bad
    assert not {*found.good} & bad
    assert not {*found.suspects} & {*found.good}


def test_two_nodes_cannot_be_told_apart() -> None:
    """Of two nodes alone a test of both says nothing of either; a third one decides."""
    pair = {frozenset({"a", "b"}): False}
    alone = narrow(["a", "b"], pair)
    assert alone.undecided
    assert alone.suspects == ("a", "b")
    third = narrow(["a", "b", "c"], pair)
    assert third.next == ("a", "c")
    assert narrow(["a", "b", "c"], pair | {frozenset({"a", "c"}): True}).bad == ("b",)


def test_a_bad_node_that_is_known_explains_its_groups() -> None:
    """A node that failed its own test explains that groups with it fail: no other node is suspected."""
    found = narrow(["a", "b", "c"], {frozenset({"a", "b", "c"}): False}, known_bad=["b"])
    assert (found.bad, found.suspects, found.next) == (("b",), (), ())


def test_nothing_is_proposed_where_nothing_failed() -> None:
    """Groups that pass leave nothing to do."""
    found = narrow(["a", "b", "c"], {frozenset({"a", "b"}): True})
    assert (found.good, found.bad, found.next) == (("a", "b"), (), ())
