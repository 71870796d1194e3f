"""The vectorAdd sample."""

from evidence.tools.cuda_vector_add import CudaVectorAdd
from tests.support.mutated import mutations, read_text

# S-7.7, as printed.
LOG = """[Vector addition of 50000 elements]
Copy input data from the host memory to the CUDA device
CUDA kernel launch with 196 blocks of 256 threads
Copy output data from the CUDA device to the host memory
Test PASSED
Done
"""


def _read(text: str) -> CudaVectorAdd:
    (found,) = read_text(text)
    assert isinstance(found, CudaVectorAdd)
    return found


def test_the_printed_log_passes() -> None:
    """Prevents a healthy GPU from failing its first test (S-7.7)."""
    found = _read(LOG)
    assert (found.complete, found.passed, found.passed_line, found.failure) == (True, True, 5, None)
    assert (found.elements, found.blocks, found.threads) == (50000, 196, 256)
    assert not found.unread


def test_nothing_but_passed_and_done_is_a_pass() -> None:
    """Prevents a pod that was killed, or has no GPU, from counting as tested."""
    assert not _read(LOG.replace("Done\n", "")).complete
    assert not _read(LOG.replace("Done\n", "")).passed
    assert not _read(LOG.replace("Test PASSED\n", "")).passed
    assert not _read(LOG.replace("Test PASSED", "Test PASS")).passed


def test_what_went_wrong_is_said() -> None:
    """Prevents a driver that is too old for the image from being a silent failure."""
    # Message of the sample's source; the error code is CUDA's own.
    said = (
        "Failed to allocate device vector A (error code CUDA driver version is insufficient for CUDA runtime version)!"
    )
    found = _read(f"[Vector addition of 50000 elements]\n{said}\n")
    assert (found.passed, found.complete) == (False, True)
    assert found.failure is not None
    assert (found.failure.line, found.failure.text) == (2, said)
    assert not _read(LOG.replace("Test PASSED", "Result verification failed at element 7!")).passed


def test_damage_never_raises_and_never_passes_without_its_line() -> None:
    """Prevents a cut log from passing."""
    for raw in mutations(LOG, 200):
        for found in read_text(raw):
            if isinstance(found, CudaVectorAdd) and found.passed:
                assert b"Test PASSED" in raw
