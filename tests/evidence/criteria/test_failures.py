"""Lines that say that something failed."""

import pytest

from evidence.verdict import Ended, Status, Verdict
from tests.evidence.criteria.cases import TABLE, TWO, judged

NCCL = "nccl-test-mpi-worker-1:30:47 [7] NCCL WARN"


def _verdict(line: str, ended: Ended = Ended.UNKNOWN) -> Verdict:
    return judged(f"{TABLE}{line}\n", TWO, ended)["no-failure-lines"]


@pytest.mark.parametrize(
    "line",
    [
        "mpirun noticed that process rank 1 with PID 30 on node worker-1 exited on signal 9 (Killed).",
        "Primary job  terminated normally, but 1 process returned",
        "RuntimeError: NCCL error",
        "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[64,256]",
        "NVRM: Xid (PCI:0000:06:00): 79, pid=1234, GPU has fallen off the bus.",
        "Out of bounds values : 2 FAILED",
        "[rank0]: Traceback (most recent call last):",
        "[default3]:[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
        "[rank1]:[E1125 15:49:55.123456789 ProcessGroupNCCL.cpp:629] Watchdog caught collective operation timeout",
        "E1125 15:50:01.000000 1 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1)",
        f"{NCCL} NET/IB : Got completion from peer 10.0.0.1<1> with error 12, opcode 0, len 0, vendor err 129",
    ],
)
def test_they_fail_a_job_whose_table_is_whole(line: str) -> None:
    """A job that died after its table fails; one that the cluster reports as succeeded gets a warning."""
    found = _verdict(line)
    assert (found.status, [proof.text for proof in found.proofs]) == (Status.FAIL, [line])
    assert _verdict(line, Ended.SUCCEEDED).status is Status.WARN


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (f"{NCCL} NCCL_NET_PLUGIN is old", Status.WARN),
        ("Could not load dynamic library 'libnvinfer.so.6'; dlerror: libnvinfer.so.6: cannot open", Status.PASS),
        ("Error: 0 of 16 ranks", Status.PASS),
        ("[rank0]:[W1125 15:49:55.1 ProcessGroupNCCL.cpp:1476] Warning: destroy_process_group() was not", Status.WARN),
        ("[W socket.cpp:436] [c10d] The server socket cannot be initialized on [::]:29500", Status.WARN),
        ("W1125 15:49:55.123000 12 torch/distributed/run.py:793] Setting OMP_NUM_THREADS environment", Status.WARN),
        ("W1125 15:49:55.123000 12 controller.go:12] the cache is cold", Status.PASS),
    ],
)
def test_what_is_no_failure_does_not_fail(line: str, status: Status) -> None:
    """Noise of frameworks and harmless warnings of NCCL and PyTorch do not fail a job."""
    assert _verdict(line).status is status
