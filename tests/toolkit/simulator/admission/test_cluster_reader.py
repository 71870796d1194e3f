"""Reading for decisions: shared, but never older than the question."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from policies.scc import Namespace
from policies.scc.rbac import Rbac
from toolkit.simulator.admission.cluster_reader import Shared
from toolkit.simulator.admission.review import Facts


def facts(number: int) -> Facts:
    """Return the facts of a reading."""
    return Facts(Namespace(str(number), {}), [], Rbac([]))


def test_nobody_gets_what_was_being_read_when_they_came() -> None:
    """A caller gets only what was read after its call: a deleted binding must not admit a pod."""
    begun, finish = threading.Semaphore(0), threading.Semaphore(0)
    readings: list[int] = []

    def read() -> Facts:
        readings.append(len(readings))
        begun.release()
        assert finish.acquire(timeout=10)
        return facts(readings[-1])

    shared = Shared(read)
    coming = threading.Barrier(8)

    def late() -> Facts:
        coming.wait(10)
        return shared.facts()

    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(shared.facts)
        assert begun.acquire(timeout=10)
        others = [pool.submit(late) for _ in range(7)]
        coming.wait(10)
        finish.release(8)
        assert first.result(10).namespace.name == "0"
        assert "0" not in {one.result(10).namespace.name for one in others}


def test_a_failed_reading_is_not_shared() -> None:
    """A failed reading is not shared with later callers."""
    outcomes = iter((OSError("gone"), facts(1)))

    def read() -> Facts:
        outcome = next(outcomes)
        if isinstance(outcome, OSError):
            raise outcome
        return outcome

    shared = Shared(read)
    with pytest.raises(OSError, match="gone"):
        shared.facts()
    assert shared.facts().namespace.name == "1"
