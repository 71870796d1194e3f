"""Ranges of user ids for namespaces."""

from core.apis import names
from toolkit.simulator.actors import namespaces


def test_categories_are_those_openshift_gives_to_a_block() -> None:
    """Namespaces have SELinux categories of their own; c25,c5 with 1000610000 is a pair seen on real clusters."""
    assert namespaces.categories(61) == "s0:c25,c5"
    assert len({namespaces.categories(block) for block in range(2000)}) == 2000


def test_a_new_namespace_gets_a_free_block() -> None:
    """Two namespaces have no user id in common."""
    used = namespaces.taken([{names.SCC_UID_RANGE: "1000010000/10000"}, {names.SCC_UID_RANGE: "1000020005/10000"}])
    assert used == {1, 2, 3}
    given = namespaces.missing({}, used)
    assert given == {
        names.SCC_UID_RANGE: "1000040000/10000",
        names.SCC_SUPPLEMENTAL_GROUPS: "1000040000/10000",
        names.SCC_MCS: "s0:c6,c5",
    }


def test_what_is_there_is_kept() -> None:
    """A range that the namespace already has is not overwritten."""
    own = {names.SCC_UID_RANGE: "1075480000/10000", names.SCC_MCS: "s0:c27,c24"}
    assert namespaces.missing(own, {1}) == {names.SCC_SUPPLEMENTAL_GROUPS: "1075480000/10000"}
    full = own | {names.SCC_SUPPLEMENTAL_GROUPS: "5/5"}
    assert namespaces.missing(full, set()) == {}


def test_unreadable_ranges_take_nothing() -> None:
    """A range that cannot be parsed concerns its own namespace only."""
    assert namespaces.taken([{names.SCC_UID_RANGE: "what/ever"}, {}]) == set()
