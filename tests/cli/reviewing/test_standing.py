"""How a stack stands: updates that run or were cut off, and objects that are being deleted."""

from dataclasses import replace
from typing import Any

import pytest

from cli.errors import Problem
from cli.live import RefusedError
from cli.reviewing import standing
from cli.reviewing.standing import Standing
from review.model import Ending
from review.words import bare
from tests.support.reviews import made


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
        (None, Standing(), ""),
        (Held(0), Standing(), ""),
        (Held(1, False), Standing("process 7 of ci", pending=1), "is under way, as its lock says (process 7 of ci)"),
        (Held(0, True), Standing(cut_off=True), "was cut off: its lock is left. ./hpc up --stack lab"),
        (Held(2), Standing(cut_off=True, pending=2), "was cut off: 2 operations of it may"),
    ],
)
def test_the_last_update(held: Held | None, expected: Standing, said: str) -> None:
    """Prevents `No drift` in the middle of an update, and after one that was killed."""
    stack: Any = type("Stack", (), {"name": "lab", "backend": held})()
    assert standing.of(stack) == expected
    assert said in bare(" ".join(expected.told("--stack lab")))
    assert bool(list(expected.told(""))) is bool(said)


class Cluster:
    """A cluster with a volume, a namespace and a job that are being deleted."""

    def __init__(self, error: Problem | None = None) -> None:
        self.asked: list[str] = []
        self._error = error

    def every(self, _: str, kind: str) -> list[dict[str, Any]]:
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
    """Prevents a volume that is gone with its claim, of which drift, diff and status say that all is well."""
    cluster: Any = Cluster()
    more = [made(f"core/v1:{kind}", {"metadata": {"name": "a", "namespace": "n"}}) for kind in ("Secret", "Service")]
    found = standing.ending(cluster, [*OWN, *more])
    assert found == (Ending("Namespace", "a", ("kubernetes",)), VOLUME)
    assert "Secret" not in cluster.asked


@pytest.mark.parametrize(("error", "expected"), [(RefusedError("no", "", "403"), (VOLUME,)), (Problem("gone"), ())])
def test_a_cluster_that_does_not_tell(error: Problem, expected: tuple[Ending, ...]) -> None:
    """Prevents a review that fails for a kind which an account may not list."""
    cluster: Any = Cluster(error)
    assert standing.ending(cluster, OWN) == expected


def test_what_was_being_deleted_when_it_was_read() -> None:
    """Prevents a namespace on its way out from being told by nobody: as declared at first, and gone a moment later."""
    live = {"metadata": {"name": "a", "deletionTimestamp": "x"}, "spec": {"finalizers": ["kubernetes"]}}
    resources = [replace(OWN[1], live=live), replace(OWN[0], live={"metadata": {}}), OWN[0]]
    assert list(standing.seen(resources)) == [Ending("Namespace", "a", ("kubernetes",))]
