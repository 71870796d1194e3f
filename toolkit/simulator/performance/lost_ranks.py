"""What ranks print when others of their job are gone, and how they end: by torchrun, or by mpirun.

Forms: ProcessGroupNCCL's watchdog and torch/distributed/elastic of PyTorch 2.8; the lost daemon of Open MPI 4.1
(orte/mca/errmgr/default_hnp). A machine that is off closes no connection, so that the others wait for the time-out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

ABORTED = -6
"""SIGABRT, which the watchdog ends its process by."""
End = tuple[tuple[str, ...], int]
"""Lines, and an exit code."""
FAILED = 1
_TABLE = "=" * 60
_RULE = "-" * 60


@dataclass(frozen=True)
class Survivor:
    """A pod whose peers are gone, at a time."""

    name: str
    ranks: Sequence[int]
    now: datetime
    collectives: int
    """Collectives of the job that have ended."""
    waited: float | None
    """Seconds until the time-out; None: the connection was closed."""

    @property
    def stamp(self) -> str:
        """The time as glog writes it, with nanoseconds."""
        return f"{self.now:%m%d %H:%M:%S.%f}000"


def torchrun(pod: Survivor) -> End:
    """Return what a pod of torchrun prints, and its exit code."""
    lines = [line for rank in pod.ranks for line in _rank(pod, rank)]
    stamp = f"E{pod.stamp[:-3]} 1 torch/distributed/elastic/multiprocessing/api.py:"
    first = pod.ranks[0]
    lines += [
        f"{stamp}874] failed (exitcode: {ABORTED}) local_rank: 0 (pid: {_pid(0)}) of binary: /usr/bin/python3",
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
        _TABLE,
        "python3 FAILED",
        _RULE,
        "Failures:",
        *(line for at, rank in enumerate(pod.ranks) if at for line in _failure(pod, at, rank, f"[{at}]:")),
        _RULE,
        "Root Cause (first observed failure):",
        *_failure(pod, 0, first, "[0]:"),
        _TABLE,
    ]
    return tuple(lines), FAILED


def _rank(pod: Survivor, rank: int) -> tuple[str, ...]:
    at = f"[rank{rank}]:[E{pod.stamp} ProcessGroupNCCL.cpp:"
    number = pod.collectives + 1
    if pod.waited is None:
        text = "NCCL error: remote process exited or there was a network error, NCCL version 2.27.3"
        return (
            f"{pod.name}:{_pid(0)}:{_pid(0)} [{rank}] misc/socket.cc:71 NCCL WARN socketProgress: Connection closed by "
            "remote peer",
            f"{at}2068] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] Process group watchdog thread terminated with "
            f"exception: {text}",
            "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.",
        )
    milliseconds = round(pod.waited * 1000)
    return (
        f"{at}685] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={number}, "
        f"OpType=ALLREDUCE, NumelIn=25557032, NumelOut=25557032, Timeout(ms)={milliseconds}) ran for "
        f"{milliseconds + 81} milliseconds before timing out.",
        f"{at}2241] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] failure detected by watchdog at work sequence id: "
        f"{number} PG status: last enqueued work: {number}, last completed work: {number - 1}",
        f"{at}734] [Rank {rank}] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA "
        "kernels, subsequent GPU operations might run on corrupted/incomplete data.",
        f"{at}748] [Rank {rank}] To avoid data inconsistency, we are taking the entire process down.",
    )


def _failure(pod: Survivor, local: int, rank: int, head: str) -> tuple[str, ...]:
    return (
        head,
        f"  time      : {pod.now:%Y-%m-%d_%H:%M:%S}",
        f"  host      : {pod.name}",
        f"  rank      : {rank} (local_rank: {local})",
        f"  exitcode  : {ABORTED} (pid: {_pid(local)})",
        "  error_file: <N/A>",
        f"  traceback : Signal 6 (SIGABRT) received by PID {_pid(local)}",
    )


def _pid(local: int) -> int:
    return 100 + local


def mpirun(launcher: str, lost: str) -> End:
    """Return what mpirun prints when the daemon of a worker is gone, and its exit code."""
    rule = "-" * 74
    return (
        rule,
        "ORTE has lost communication with a remote daemon.",
        "",
        f"  HNP daemon   : [[8531,0],0] on node {launcher}",
        f"  Remote daemon: [[8531,0],1] on node {lost}",
        "",
        "This is usually due to either a failure of the TCP network",
        "connection to the node, or possibly an internal failure of",
        "the daemon itself. We cannot recover from this failure, and",
        "therefore will terminate the job.",
        rule,
    ), FAILED


def off_the_bus() -> End:
    """Return what a rank prints whose GPU has fallen off the bus (Xid 79), as PyTorch passes on CUDA's error."""
    return (
        "torch.AcceleratorError: CUDA error: unknown error",
        "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be "
        "incorrect.",
        "For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
    ), FAILED
