"""Values of manifests: reading them, and which unknown ones a rule has read."""

import pytest
from pulumi_policy.proxy import UNKNOWN_ARRAY_VALUE

from policies.check import Checker
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.values import Path, ReadLog, Unknown, entries, mapping, read, show
from policies.pack.resources import Properties


def test_unknown_values_keep_their_place() -> None:
    """Reading through an unknown value returns it, with its place."""
    tree = {"a": [{"b": UNKNOWN_ARRAY_VALUE, "c": 1}]}
    expected = {"a": [{"b": Unknown(("a", 0, "b")), "c": 1}]}
    found = Properties(tree)
    assert found.tree == expected
    assert found.unknown == [Unknown(("a", 0, "b"))]
    assert read(expected, "a", 0, "b", "deeper") == found.unknown[0]


def test_show() -> None:
    """A path shows keys with dots and slashes in brackets."""
    path = ("spec", "containers", 0, "resources", "limits", "rdma/shared_ib0")
    assert show(path) == "spec.containers[0].resources.limits[rdma/shared_ib0]"


@pytest.mark.parametrize("tree", [{}, {"a": None}, {"a": "text"}, None, Unknown(())])
def test_entries_and_mappings_of_what_has_none(tree: object) -> None:
    """What has no list, or no mapping, at a path has an empty one, whatever it is."""
    assert entries(tree, "a") == []
    assert mapping(tree, "a") == {}
    assert entries({"a": [tree]}, "a") == [tree]
    assert mapping({"a": {"b": tree}}, "a") == {"b": tree}


IMAGE = Unknown(("spec", "containers", 0, "image"))
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "x"},
    "spec": {"containers": [{"name": "c", "image": IMAGE}]},
}


@pytest.mark.parametrize(
    ("path", "depth", "read"),
    [
        (("spec",), None, True),
        (("spec", "containers"), 1, False),
        (("spec", "containers", 0), 1, True),
        (("spec", "containers", 0, "image", "x"), None, True),
        (("spec", "containers", 1), None, False),
        (("metadata",), None, False),
    ],
)
def test_a_log_has_what_was_read(path: Path, depth: int | None, read: bool) -> None:
    """A read counts at an unknown value, above it within the depth, and below it."""
    log = ReadLog((IMAGE,))
    log.add(path, depth)
    assert log.values == ((IMAGE,) if read else ())


def test_reads_through_a_view_leave_the_object_alone() -> None:
    """Only the view that a log was made for records reads, and its object stays the same to rules."""
    subject, log = Obj(POD, unknown=(IMAGE,)), ReadLog((IMAGE,))
    view = subject.logged(log)
    assert subject.containers[0].read("image") == IMAGE
    assert not log.values
    assert view.containers[0].read("image") == IMAGE
    assert log.values == (IMAGE,)
    assert view == subject


def test_each_rule_reports_what_it_read() -> None:
    """Every rule that needs an unknown value reports it, in a second run of the same checker as in the first."""
    subject, checker = Obj(POD, unknown=(IMAGE,)), Checker()
    inventory = Inventory([subject])
    first, second = ([*checker.check([subject], inventory)] for _ in range(2))
    assert first == second
    rules = {each.rule for each in first if each.undetermined and each.path == IMAGE.path}
    assert {"image-pinned", "image-registry"} <= rules
    assert "mpi-name" not in rules
