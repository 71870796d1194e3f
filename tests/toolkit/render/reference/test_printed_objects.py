"""The Redpaper's printed objects, held against what the stacks declare."""

from toolkit.render.reference import printed_objects
from toolkit.render.reference.printed_objects import Difference, differences, flat, objects, reason_of, reasons


def test_every_difference_has_a_reason() -> None:
    """A printed field that is declared otherwise, or not, fails without a reason; all 17 objects are declared."""
    unexplained = [
        (item.printed, item.path, item.here, item.there) for item in differences() if reason_of(item) is None
    ]
    assert unexplained == [], f"give a reason in {printed_objects.DATA.name}, or declare what is printed"
    assert len({item.printed for item in objects()}) == 17


def test_every_reason_has_a_difference() -> None:
    """A reason of a difference that is no more is removed."""
    used = {reason_of(difference) for difference in differences()}
    assert [reason.title for reason in reasons() if reason not in used] == []


def test_what_is_printed_is_declared_where_nothing_is_said() -> None:
    """Commands of the MPI jobs, and the parts of the volume's handle, are the printed ones to the letter."""
    differing = {(item.printed, item.path) for item in differences()}
    mpi = [item for item in objects() if item.printed.startswith("MPIJob ")]
    for item in mpi:
        assert "launcher.container.command" in dict(flat(item.fields))
        assert (item.printed, "launcher.container.command") not in differing, item.printed
    assert ("PersistentVolume adas-data-pv01", "spec.csi.volumeHandle") not in differing


def test_lists_are_compared_by_name() -> None:
    """Entries of lists are found by their name, and not by their place."""
    first = {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}], "args": ["-c", "a b"], "none": None}
    turned = {**first, "env": first["env"][::-1]}  # type: ignore[index]
    assert (
        dict(flat(first))
        == dict(flat(turned))
        == {"env.A.value": "1", "env.B.value": "2", "args": "-c a b", "none": "null"}
    )


def test_a_reason_is_of_its_objects_and_fields() -> None:
    """A pattern of objects narrows a reason."""
    reason = next(item for item in reasons() if item.title == "Who may use the SCC")
    assert reason.explains(Difference("SecurityContextConstraints scc-for-mpi", "users", "[]", "a"))
    assert not reason.explains(Difference("RoleBinding mpi", "users", "[]", "a"))
