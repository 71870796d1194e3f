"""NCCL's RAS: its client `ncclras` asks the processes of a running job which of them answer, and how far they are."""

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, readings_of, row_proofs
from toolkit.evidence.tools.nccl_ras.model import NcclRas
from toolkit.evidence.tools.nccl_ras.parser import NcclRasParser
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed

__all__ = ["CRITERIA", "NcclRasParser"]

_SHOWN = 4


def _answering(job: Job) -> Outcome | None:
    answers = readings_of(job, NcclRas)
    processes = [(answer.file, row) for answer in answers for row in answer.processes]
    ranks = [(answer.file, row) for answer in answers for row in answer.ranks]
    absent = [f"process {row.pid} on {row.node} (GPU {row.gpus}) is {row.state}" for _, row in processes]
    silent = max(answer.silent for answer in answers)
    if silent and not absent:
        absent = [f"{plural(silent, 'process', 'processes')} not reached"]
    lost = [entry for entry in ranks if entry[1].fact in ("missing", "error")]
    apart = [entry for entry in ranks if entry[1].is_behind or entry[1].fact == "status"]
    if silent or lost:
        measured = listed(dict.fromkeys([*absent, *(str(row) for _, row in [*lost, *apart])]), _SHOWN)
        return Outcome(Status.FAIL, measured, proofs=row_proofs([*processes, *lost, *apart]))
    if apart:
        measured = listed(dict.fromkeys(str(row) for _, row in apart), _SHOWN)
        return Outcome(Status.WARN, measured, proofs=row_proofs(apart))
    if any(not answer.complete or not answer.communicators for answer in answers):
        return Outcome(Status.MISSING, listed(answer.incomplete or "no communicator" for answer in answers))
    return Outcome(Status.PASS, listed(answer.figures() for answer in answers), proofs=opening_proofs(answers))


CRITERIA = (
    Criterion(
        name="ranks-answer",
        title="NCCL's RAS reaches every process, and all ranks have launched the same operations",
        limit="no process dead or missing, no rank behind",
        tolerance="a rank that is only behind is a warning: in a job that goes on counts differ for moments; ask again",
        applies="answers of ncclras, as text or JSON",
        source="docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting/ras.html",
        judge=_answering,
    ),
)
