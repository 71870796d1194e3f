"""What PyTorch prints of a job's processes, as its versions print it."""

import pytest

from tests.support.mutated import read_text
from tests.support.wordings import Wording, wordings
from tests.toolkit.evidence.criteria.cases import ANY, TWO, judged
from toolkit.evidence.judge import evaluate
from toolkit.evidence.tools.torch_distributed import CRITERIA
from toolkit.evidence.tools.torch_distributed.model import TorchDistributed, root_causes
from toolkit.evidence.verdict import Ended, Job, Status, Verdict

_RUN = "WorkNCCL(SeqNum=8, OpType=ALLREDUCE, TensorShape=[1], Timeout(ms)=1800000) ran for 1800410 milliseconds"
_TABLE = """torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2026-05-06_09:41:12
  host      : train-1
  rank      : 9 (local_rank: 1)
  exitcode  : 1 (pid: 77)
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-05-06_09:41:11
  host      : train-1
  rank      : 11 (local_rank: 3)
  exitcode  : -9 (pid: 79)
  error_file: <N/A>
  traceback : Signal 9 (SIGKILL) received by PID 79
============================================================
"""


def _read(log: str) -> TorchDistributed:
    (found,) = [one for one in read_text(log) if isinstance(one, TorchDistributed)]
    return found


def _together(log: str) -> Verdict:
    return judged(log, ANY)["processes-together"]


@pytest.mark.parametrize("wording", [one for one in wordings("pytorch") if one.record is not None], ids=str)
def test_every_version_is_read(wording: Wording) -> None:
    """What each version of PyTorch prints of a failure of processes is read, and fails the job."""
    log = f"step 1 loss 2.5\n{wording.message}\nstep 2\n"
    assert wording.record is not None
    (row,) = getattr(_read(log), wording.record)
    values = {name: getattr(row, name) for name in wording.values}
    assert {name: [*value] if isinstance(value, tuple) else value for name, value in values.items()} == wording.values
    verdict = judged(log, ANY)
    assert verdict["processes-together"].status is Status.FAIL
    assert verdict["no-failure-lines"].status is Status.FAIL


def test_a_rank_that_completed_fewer_operations_is_behind() -> None:
    """Of ranks that wait, the one that completed fewer operations, or did not start theirs, is behind."""
    line = "[rank{0}]:[E506 09:41:10.2 ProcessGroupNCCL.cpp:1664] [PG 1 Rank {0}] Timeout at NCCL work: {1}, last "
    line += "enqueued NCCL work: {2}, last completed NCCL work: {3}.\n"
    waiting = line.format(0, 20, 22, 19) + line.format(4, 20, 21, 19)
    fewer = _together(waiting + line.format(5, 14, 15, 13))
    assert fewer.measured == "rank 5 is behind: it completed 13 of 19 operations"
    assert [proof.line for proof in fewer.proofs] == [3]
    unstarted = _together(waiting + line.format(5, 14, 19, 19))
    assert unstarted.measured == "rank 5 is behind: it did not start operation 20, for which others wait"
    assert _read(waiting).behind == ()
    unset = _together(waiting + line.format(5, 1, 1, 76280750235782912))
    assert unset.measured == "rank 5 is behind: it completed 0 of 19 operations"


def test_ranks_that_print_nothing_are_named_where_others_wait() -> None:
    """Where all but a few ranks of the job report a time-out of one operation, those that do not are named."""
    line = "[rank{0}]:[E506 09:41:10.2 ProcessGroupNCCL.cpp:629] [Rank {0}] Watchdog caught collective operation "
    line += f"timeout: {_RUN} before timing out.\n"
    log = "".join(line.format(rank) for rank in range(16) if rank not in (4, 11))
    measured = judged(log, TWO)["processes-together"].measured
    assert measured == (
        "ALLREDUCE 8 timed out after 1800 s on 14 ranks; no time-out of rank 4, 11, for which the others may wait"
    )
    assert "no time-out" not in judged(log, ANY)["processes-together"].measured
    assert "no time-out" not in judged(line.format(3), TWO)["processes-together"].measured


def test_groups_are_not_compared_with_each_other() -> None:
    """Operations of two process groups have numbers of their own; a group has one GUID, whatever a process calls it."""
    line = "[rank{0}]:[E506 09:41:10.2 ProcessGroupNCCL.cpp:1664] [PG {1} Rank 0] Timeout at NCCL work: 5, last "
    line += "enqueued NCCL work: {2}, last completed NCCL work: {3}.\n"
    assert _read(line.format(0, "ID 1 PG GUID 3(dp)", 9, 8) + line.format(1, "ID 1 PG GUID 7(dp)", 3, 2)).behind == ()
    assert _read(line.format(0, "ID 1 PG GUID 3(dp)", 9, 8) + line.format(1, "ID 2 PG GUID 3(dp)", 3, 2)).behind == (1,)


def test_the_table_of_torchrun_names_the_processes_that_failed() -> None:
    """The process that failed first comes first, with its host and signal; the line of its exit status shows it."""
    verdict = _together(_TABLE)
    assert verdict.measured == "rank 11 on train-1 was ended by SIGKILL; rank 9 on train-1 exited with 1"
    assert [proof.line for proof in verdict.proofs] == [19, 10]
    assert [(row.rank, row.local_rank, row.first) for row in _read(_TABLE).exits] == [(9, 1, False), (11, 3, True)]


def test_processes_that_were_restarted_and_ended_well_are_a_warning() -> None:
    """A failure after which torchrun or the cluster reports a good end warns; one after that end fails."""
    failure = "E0506 09:41:20.1 41 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) "
    failure += "local_rank: 0 (pid: 4) of binary: /usr/bin/python\n"
    good = "I0506 09:51:20.1 41 torch/distributed/elastic/agent/server/api.py:889] [default] worker group "
    good += "successfully finished. Waiting 300 seconds for other agents to finish.\n"
    assert _together(failure + good).status is Status.WARN
    assert _together(good + failure).status is Status.FAIL
    assert judged(failure, ANY, Ended.SUCCEEDED)["processes-together"].status is Status.WARN
    assert judged(failure, ANY, Ended.SUCCEEDED)["complete-logs"].status is Status.PASS


def test_warnings_after_which_pytorch_tries_again_are_no_failure() -> None:
    """A port of one address family, a server that does not listen yet, and a periodic state fail nothing."""
    harmless = (
        "[W506 09:30:02.1 socket.cpp:464] [c10d] The server socket has failed to bind to [::]:29500 (errno: 97 - "
        "Address family not supported by protocol).\n"
        "[W506 09:30:02.2 socket.cpp:697] [c10d] The client socket has failed to connect to any network address of "
        "(train-0, 29500).\n"
        "[rank0]:[I506 09:30:02.3 ProcessGroupNCCL.cpp:2071] [PG ID 0 PG GUID 0(default_pg) Rank 0] NCCL Work update "
        "periodically: last enqueued NCCL work: 9, last completed NCCL work: 3.\n"
    )
    assert [one.tool for one in read_text(harmless)] == ["unknown"]
    (reading,) = read_text(f"[Rank 3] Watchdog caught collective operation timeout: {_RUN}\n{harmless}")
    assert isinstance(reading, TorchDistributed)
    assert (len(reading.failures), reading.progress, reading.meetings) == (1, (), ())


def test_a_failure_is_read_wherever_it_stands() -> None:
    """Behind a thousand lines that nobody reads, below a program's table, and with a launcher's prefix, it is read."""
    failure = "[rank3]:[E506 09:41:10.2 ProcessGroupNCCL.cpp:629] [Rank 3] Watchdog caught collective operation "
    failure += f"timeout: {_RUN} before timing out.\n"
    noise = "".join(f"epoch {chr(97 + number % 26) * (number % 50)} done\n" for number in range(3000))
    assert _read(noise + failure).timed_out[0].rank == 3
    labelled = "".join(f"{number}: {failure.replace('rank3', f'rank{number}')}" for number in (3, 4))
    assert [row.rank for row in _read(labelled).timed_out] == [3, 4]


def test_of_several_pods_what_failed_first_is_the_root_cause() -> None:
    """Each torchrun names its own first failure: times decide, and what torchrun or the watchdog ended comes after."""
    other = (
        _TABLE.replace("train-1", "train-0").replace("09:41:1", "09:41:0").replace("exitcode  : -9", "exitcode  : -15")
    )
    tables = [read_text(table.replace("rank      : 9", "rank      : 1")) for table in (_TABLE, other)]
    job = Job(request=ANY, ended=Ended.FAILED, readings=tuple(reading for table in tables for reading in table))
    verdict = evaluate(CRITERIA[0], job)
    assert verdict is not None
    assert verdict.measured.startswith("rank 1 on train-0 exited with 1; ")
    aborted = other.replace("exitcode  : 1 ", "exitcode  : -6 ")
    assert [row.rank for row in root_causes(_read(aborted).exits)] == [9]
    assert [row.code for row in root_causes([row.model_copy(update={"time": "t"}) for row in _read(_TABLE).exits])] == [
        -9
    ]


@pytest.mark.parametrize("head", ["[Rank {0}]", "[PG ID 0 PG GUID 0(default_pg) Rank {0}]"])
def test_a_rank_that_waits_in_what_others_completed_is_named(head: str) -> None:
    """Its operation has a lower number than theirs; of all in one operation none is."""
    line = f"[rank{{0}}]:[E506 09:41:10.2 ProcessGroupNCCL.cpp:629] {head} Watchdog caught collective operation "
    line += f"timeout: {_RUN} before timing out.\n"
    later = line.replace("SeqNum=8", "SeqNum=9")
    log = later.format(0) + later.format(1) + line.format(2)
    named = "rank 2 waits in operation 8, which those that wait in 9 have completed; "
    assert _together(log).measured.startswith(named)
    assert "completed" not in _together(line.format(0) + line.format(1)).measured
