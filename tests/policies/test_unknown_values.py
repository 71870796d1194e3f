"""Unknown values: which of them a rule has read, and that reading leaves the object as it is."""

import pytest

from policies.check import Checker
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.values import Path, ReadLog, Unknown

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
