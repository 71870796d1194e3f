"""What PyTorch reports of a job's processes: time-outs of NCCL's work, rendezvous, and torchrun's table of failures."""

import signal
from collections import Counter
from collections.abc import Iterator, Sequence

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, closing_proofs, readings_of
from toolkit.evidence.tools.torch_distributed.model import (
    Exit,
    Meeting,
    TorchDistributed,
    left_waiting,
    ranks_behind,
    root_causes,
)
from toolkit.evidence.tools.torch_distributed.parser import TorchDistributedParser
from toolkit.evidence.verdict import Ended, Job, Proof, Shape, Status
from toolkit.evidence.wording import listed

__all__ = ["CRITERIA", "TorchDistributedParser"]

_SHOWN = 8
"""Ranks, processes and lines that are named."""
_OPERATIONS = 3
"""Operations, and ranks that printed nothing, of which more are not named."""


def _together(job: Job) -> Outcome | None:
    readings = readings_of(job, TorchDistributed)
    roots = root_causes([row for reading in readings for row in reading.exits])
    # What failed first may be in another pod's log.
    readings.sort(key=lambda reading: not any(row in reading.exits for row in roots))
    facts = [fact for reading in readings for fact in _facts(reading, roots)]
    facts += [fact for reading in readings for fact in _silent(reading, job.request.shape)]
    if not facts:
        ended = [reading for reading in readings if reading.succeeded]
        return Outcome(Status.PASS, "all processes ended well", proofs=closing_proofs(ended)) if ended else None
    ended_well = job.ended is Ended.SUCCEEDED or all(reading.succeeded for reading in readings)
    status = Status.WARN if ended_well else Status.FAIL
    proofs = tuple(dict.fromkeys(proof for _, proof in facts))[:_SHOWN]
    return Outcome(status, "; ".join(dict.fromkeys(text for text, _ in facts)), proofs=proofs)


def _facts(reading: TorchDistributed, roots: Sequence[Exit]) -> Iterator[tuple[str, Proof]]:
    """Yield what failed, the most telling first, with the line that shows it."""

    def at(line: int) -> Proof:
        return Proof(file=reading.file, line=line, text="")

    for behind in ranks_behind(reading.progress)[:_SHOWN]:
        yield str(behind), at(behind.progress.line)
    for named in reading.named[:_SHOWN]:
        yield (
            f"PyTorch names {plural(len(named.ranks), 'rank')} as behind: {listed(map(str, named.ranks))}",
            at(named.line),
        )
    for waiting in left_waiting(reading.timed_out):
        yield str(waiting), at(waiting.line)
    for exited in sorted(reading.exits, key=lambda row: (row not in roots, not row.first))[:_SHOWN]:
        yield _exit(exited), at(exited.line)
    for row in reading.meetings[:_SHOWN]:
        yield _meeting(row), at(row.line)
    if reading.stuck:
        yield f"the watchdog of rank {listed(map(str, reading.stuck))} is stuck", at(reading.failures[0].line)
    for (operation, work), count in Counter((row.operation, row.work) for row in reading.timed_out).most_common(
        _OPERATIONS
    ):
        first = next(row for row in reading.timed_out if (row.operation, row.work) == (operation, work))
        after = f" after {first.seconds:.0f} s" if first.seconds is not None else ""
        yield f"{operation} {work} timed out{after} on {plural(count, 'rank')}", at(first.line)
    if reading.failures and not (
        reading.exits or reading.meetings or reading.stuck or reading.timed_out or reading.behind
    ):
        yield plural(len(reading.failures), "line that reports a failure"), at(reading.failures[0].line)


def _silent(reading: TorchDistributed, shape: Shape | None) -> Iterator[tuple[str, Proof]]:
    """Yield the few ranks of the job that printed nothing, where several others waited and none is behind."""
    heard = {row.rank for row in reading.timed_out if row.rank is not None} | {row.rank for row in reading.progress}
    every_rank = {*range(shape.total)} if shape is not None else set()
    # Ranks beyond the layout show that it is another job's.
    silent = every_rank - heard if len(heard) > 1 and heard < every_rank and not reading.behind else set()
    if 0 < len(silent) <= _OPERATIONS:
        line = max([*(row.line for row in reading.timed_out), *(row.line for row in reading.progress)])
        ranks = f"no time-out of rank {listed(map(str, sorted(silent)))}, for which the others may wait"
        yield ranks, Proof(file=reading.file, line=line, text="")


def _exit(row: Exit) -> str:
    subject = f"rank {row.rank}" if row.rank is not None else f"local rank {row.local_rank} of a pod"
    where = f" on {row.host}" if row.host else ""
    return f"{subject}{where} " + (f"was ended by {_signal(-row.code)}" if row.code < 0 else f"exited with {row.code}")


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _meeting(row: Meeting) -> str:
    if row.kind == "clients":
        waited = f" in {row.seconds} s" if row.seconds is not None else ""
        return f"{row.joined} of {row.expected} processes joined{waited}"
    if row.kind == "connect":
        return f"no answer from {row.host}, port {row.port}"
    if row.kind == "listen":
        port = f"port {row.port}" if row.port is not None else "the port"
        return f"{port} could not be opened{f': {row.why}' if row.why else ''}"
    return f"rendezvous failed: {row.why}"


CRITERIA = (
    Criterion(
        name="processes-together",
        title="PyTorch's processes found each other, kept together, and ended well",
        limit="no process absent, behind, stuck or failed",
        tolerance="a warning where torchrun or the cluster reports that the job succeeded, as after a restart",
        applies="jobs in whose logs PyTorch reports a failure of its processes, or torchrun their end",
        source="docs.pytorch.org/docs/stable/elastic/errors.html",
        judge=_together,
    ),
)
