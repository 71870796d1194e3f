"""The status of a stack: updates that run or were interrupted, and objects that are being deleted."""

from dataclasses import replace
from typing import Any

import pytest

from tests.support.reviews import made
from toolkit.cli.diff import stack_status
from toolkit.cli.diff.stack_status import LastUpdate
from toolkit.cli.shared.cluster_client import RefusedError
from toolkit.cli.shared.errors import Problem
from toolkit.review.model import Ending
from toolkit.review.sentences import bare


class Held:
    """A backend with one stack."""

    def __init__(self, pending: int, *dead: bool) -> None:
        self._pending, self._dead = pending, dead

    def locks(self, _: str) -> list[Any]:
        """Return locks: of the living, and of the dead."""
        return [type("Lock", (), {"dead": each, "holder": "process 7 of ci"})() for each in self._dead]

    def is_dead(self, lock: Any) -> bool:
        """Whether a lock's holder is dead."""
        return bool(lock.dead)

    def checkpoint(self, _: str) -> dict[str, Any]:
        """Return the state."""
        return {"pending_operations": [{}] * self._pending}


@pytest.mark.parametrize(
    ("held", "expected", "said"),
    [
        (None, LastUpdate(), ""),
        (Held(0), LastUpdate(), ""),
        (Held(1, False), LastUpdate("process 7 of ci", pending=1), "is under way, by its lock (process 7 of ci)"),
        (Held(0, True), LastUpdate(cut_off=True), "was interrupted: its lock is left. ./hpc up --stack lab"),
        (Held(2), LastUpdate(cut_off=True, pending=2), "was interrupted: 2 operations of it may"),
    ],
)
def test_the_last_update(held: Held | None, expected: LastUpdate, said: str) -> None:
    """An update that runs or was interrupted is a caution, with the command that continues it."""
    stack: Any = type("Stack", (), {"name": "lab", "backend": held})()
    assert stack_status.last_update(stack) == expected
    assert said in bare(" ".join(expected.cautions("--stack lab")))
    assert bool(list(expected.cautions(""))) is expected.unsettled is bool(said)


class Cluster:
    """A cluster with a volume, a namespace and a job that are being deleted."""

    def __init__(self, error: Problem | None = None) -> None:
        self.asked: list[str] = []
        self._error = error

    def find_all(self, _: str, kind: str) -> list[dict[str, Any]]:
        """Return the objects of a kind, as lists have them: without their kind."""
        self.asked.append(kind)
        if kind == "Namespace" and self._error:
            raise self._error
        metadata = {"name": "a", "deletionTimestamp": "2026-11-22T03:00:00Z"}
        if kind == "PersistentVolume":
            return [
                {"metadata": {**metadata, "finalizers": ["kubernetes.io/pv-protection"]}},
                {"metadata": {**metadata, "name": "of somebody else"}},
            ]
        spec = {"finalizers": ["kubernetes"]} if kind == "Namespace" else {}
        return [{"metadata": metadata, "spec": spec}] if kind == "Namespace" else [{"metadata": {"name": "a"}}]


OWN = [made(kind, {"metadata": {"name": "a"}}) for kind in ("core/v1:PersistentVolume", "core/v1:Namespace")]
VOLUME = Ending("PersistentVolume", "a", ("kubernetes.io/pv-protection",))


def test_objects_that_are_being_deleted() -> None:
    """Objects of the stack that are being deleted are reported with the finalizers that they wait for."""
    cluster: Any = Cluster()
    more = [made(f"core/v1:{kind}", {"metadata": {"name": "a", "namespace": "n"}}) for kind in ("Secret", "Service")]
    found = stack_status.ending(cluster, [*OWN, *more])
    assert found == (Ending("Namespace", "a", ("kubernetes",)), VOLUME)
    assert "Secret" not in cluster.asked


@pytest.mark.parametrize(("error", "expected"), [(RefusedError("no", "", "403"), (VOLUME,)), (Problem("gone"), ())])
def test_a_cluster_that_does_not_answer_everything(error: Problem, expected: tuple[Ending, ...]) -> None:
    """A kind that may not be listed is passed over; a cluster that stops answering ends the list."""
    cluster: Any = Cluster(error)
    assert stack_status.ending(cluster, OWN) == expected


def test_what_was_being_deleted_when_it_was_read() -> None:
    """An object that was being deleted when it was read is reported, also where it is gone since."""
    live = {"metadata": {"name": "a", "deletionTimestamp": "x"}, "spec": {"finalizers": ["kubernetes"]}}
    resources = [replace(OWN[1], live=live), replace(OWN[0], live={"metadata": {}}), OWN[0]]
    assert list(stack_status.seen(resources)) == [Ending("Namespace", "a", ("kubernetes",))]
