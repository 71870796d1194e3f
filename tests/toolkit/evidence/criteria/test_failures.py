"""Lines that say that something failed."""

import pytest

from tests.toolkit.evidence.criteria.cases import TABLE, TWO, judged
from toolkit.evidence.verdict import Ended, Status, Verdict

NCCL = "nccl-test-mpi-worker-1:30:47 [7] NCCL WARN"
RUN = "W1125 15:49:55.123000 12 torch/distributed/run.py:793]"


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
        "bench.node-04 [stderr] [rank14]:[E909 09:55:29.307629539 ProcessGroupNCCL.cpp:607] [Rank 14] stopped",
        "(Worker pid=12, ip=10.0.0.3) ValueError: no such file",
        "slurmstepd: error: Detected 1 oom_kill event in StepId=88123.0. Some of the step tasks have been OOM Killed.",
        "Memory cgroup out of memory: Killed process 812 (python3) total-vm:1024kB",
        "/opt/train/run.sh: line 28:  8156 Killed                  python3 train.py",
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
        (f"{RUN} Setting OMP_NUM_THREADS environment variable for each process to be 1 in default", Status.PASS),
        (f"{RUN} *****************************************", Status.PASS),
        (RUN, Status.PASS),
        (f"{RUN} master_addr is only used for static rdzv_backend", Status.WARN),
        ("slurmstepd: error: couldn't chdir to `/root': No such file or directory: going to /tmp instead", Status.PASS),
        ("[WARNING] [rank0]: ValueError: not fatal", Status.PASS),
        ("step failed: ValueError: tried again", Status.PASS),
        ("ssh: connect to host worker-1 port 2222: Connection refused", Status.PASS),
        ("W1125 15:49:55.123000 12 controller.go:12] the cache is cold", Status.PASS),
    ],
)
def test_what_is_no_failure_does_not_fail(line: str, status: Status) -> None:
    """Noise of frameworks and harmless warnings of NCCL and PyTorch do not fail a job."""
    assert _verdict(line).status is status


@pytest.mark.parametrize(
    ("log", "fact"),
    [
        (
            ["w-0:9:9 [0] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer w-1<53>"],
            "w-1 closed",
        ),
        (
            ["w-0:9:9 [0] NCCL WARN socketStartConnect: Connect to 10.0.3.22<41234> failed : Connection refused"],
            "10.0.3.22:41234: Connection refused",
        ),
        (
            ["w-0:9:9 [0] NCCL WARN Got completion from peer 10.0.3.22<4> with status=IBV_WC_RETRY_EXC_ERR(12)"],
            "peer 10.0.3.22: IBV_WC_RETRY_EXC_ERR",
        ),
        (
            [
                "RuntimeError: [2] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d "
                "key-value store by key '0', but store->get('0') got error: Connection reset by peer"
            ],
            "rank 2 has no answer of rank 0: Connection reset by peer",
        ),
        (["srun: error: gpu-0-1: task 14: Out Of Memory"], "task 14 on gpu-0-1: Out Of Memory"),
        (["ssh: connect to host w-1 port 2222: Connection refused"], "w-1:2222: Connection refused"),
        (["user@w-0.job: Permission denied (publickey,password)."], "user@w-0.job refuses publickey,password"),
        (["mpirun noticed that process rank 1 with PID 30 on node w-1 exited on signal 9 (Killed)."], "rank 1 on w-1"),
    ],
)
def test_a_failure_of_an_unknown_program_fails_its_job_and_names_whom(log: list[str], fact: str) -> None:
    """A failure fails its job, and names the task, the host or the process that its launcher names."""
    found = judged("epoch 1 loss 2.5\n" + "\n".join(log) + "\n", TWO)["no-failure-lines"]
    assert found.status is Status.FAIL
    assert fact in found.measured
    assert found.proofs


def test_the_end_of_a_long_log_of_an_unknown_program_is_read() -> None:
    """A failure behind thousands of other lines fails the job, with what its launcher printed of it."""
    steps = "".join(f"step {step} of {'abc' * (step % 40)}: loss 0.5\n" for step in range(3000))
    assert (
        "task 14 on gpu-0-1"
        in judged(f"{steps}srun: error: gpu-0-1: task 14: Out Of Memory\n", TWO)["no-failure-lines"].measured
    )


def test_a_log_of_an_unknown_program_without_a_failure_is_not_judged() -> None:
    """Words such as error and timeout alone fail nothing."""
    found = judged("loss 2.3 errors: 0\n0 failures, timeout 60s\nsaved; no error\nexit code 0\n", TWO)
    assert [(name, verdict.status) for name, verdict in found.items()] == [("complete-logs", Status.MISSING)]
