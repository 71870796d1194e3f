"""The vectorAdd sample."""

from tests.support.mutated import mutations, only, read_text
from tests.toolkit.evidence.tools.logs import VECTOR_ADD as LOG
from toolkit.evidence.tools.cuda_vector_add import CudaVectorAdd


def test_the_printed_log_passes() -> None:
    """The printed log passes."""
    found = only(CudaVectorAdd, LOG)
    assert (found.complete, found.passed, found.passed_line, found.failure) == (True, True, 5, None)
    assert (found.elements, found.blocks, found.threads) == (50000, 196, 256)
    assert not found.unread


def test_nothing_but_passed_and_done_is_a_pass() -> None:
    """Only `Test PASSED` before `Done` is a pass."""
    assert not only(CudaVectorAdd, LOG.replace("Done\n", "")).complete
    assert not only(CudaVectorAdd, LOG.replace("Done\n", "")).passed
    assert not only(CudaVectorAdd, LOG.replace("Test PASSED\n", "")).passed
    assert not only(CudaVectorAdd, LOG.replace("Test PASSED", "Test PASS")).passed


def test_what_went_wrong_is_reported() -> None:
    """The error of a driver that is too old is read."""
    # Message of the sample's source; the error code is CUDA's own.
    said = (
        "Failed to allocate device vector A (error code CUDA driver version is insufficient for CUDA runtime version)!"
    )
    found = only(CudaVectorAdd, f"[Vector addition of 50000 elements]\n{said}\n")
    assert (found.passed, found.complete) == (False, True)
    assert found.failure is not None
    assert (found.failure.line, found.failure.text) == (2, said)
    assert not only(CudaVectorAdd, LOG.replace("Test PASSED", "Result verification failed at element 7!")).passed


def test_damage_never_raises_and_never_passes_without_its_line() -> None:
    """A damaged log does not raise, and passes only with its line."""
    for raw in mutations(LOG, 200):
        for found in read_text(raw):
            if isinstance(found, CudaVectorAdd) and found.passed:
                assert b"Test PASSED" in raw
