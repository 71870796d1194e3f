"""Answers of NCCL's RAS, as text and JSON."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.toolkit.evidence.criteria.cases import LOGS
from toolkit.evidence.judge import evaluate
from toolkit.evidence.reader import read
from toolkit.evidence.tools.nccl_ras import CRITERIA
from toolkit.evidence.tools.nccl_ras.model import NcclRas
from toolkit.evidence.verdict import Ended, Job, Request, Status, Verdict

RECORDED = Path(__file__).parents[1] / "lost_ranks" / "nccl"
DEAD = """
DEAD
  2 job processes are considered dead (unreachable via the RAS network)
  Process 4119 on node 10.128.2.31 managing GPU 5 (NVML 1)
  Process 4120 on node 10.128.2.31 managing GPUs 6,7
"""
STATUS = """#0-0 (8f1c3a5b7d9e0f21) MISMATCH
  Communicator ranks have different status
  15 ranks have status RUNNING
  Rank 3 has status ABORT -- GPU 3 managed by process 4105 on node 10.128.2.30
  Communicator ranks have different AllGather operation counts
  14 ranks have launched up to operation 7
  2 ranks have not launched any operations
  Rank 4 -- GPU 4 managed by process 4106 on node 10.128.2.30
  Rank 5 -- [process information not found]

"""


def _text(**changes: str) -> str:
    text = (LOGS / "nccl-ras/ranks-answer.pass.log").read_text()
    return text.replace("======\n\nWarnings", f"======\n{changes.get('errors', '')}\nWarnings") + changes.get("end", "")


def _read(tmp_path: Path, text: str) -> NcclRas:
    file = tmp_path / "ras"
    file.write_text(text)
    (reading,) = read(file)
    assert isinstance(reading, NcclRas)
    return reading


def _judged(reading: NcclRas) -> Verdict:
    verdict = evaluate(CRITERIA[0], Job(request=Request(job="job"), ended=Ended.UNKNOWN, readings=(reading,)))
    assert verdict is not None
    return verdict


def test_dead_processes_are_named(tmp_path: Path) -> None:
    """Each has its process, node and GPUs."""
    reading = _read(tmp_path, _text(errors=DEAD))
    assert (reading.silent, reading.processes_total, reading.communicators) == (2, 16, 9)
    assert [(row.state, row.pid, row.gpus) for row in reading.processes] == [
        ("dead", 4119, "5 (NVML 1)"),
        ("dead", 4120, "6,7"),
    ]
    verdict = _judged(reading)
    assert verdict.status is Status.FAIL
    assert "process 4119 on 10.128.2.31 (GPU 5 (NVML 1)) is dead" in verdict.measured


def test_ranks_that_are_only_behind_are_a_warning(tmp_path: Path) -> None:
    """Counts of a running job differ for moments; ranks in a list have the number of the line above."""
    reading = _read(tmp_path, _text(end=STATUS))
    assert [(row.rank, row.fact, row.value, row.most) for row in reading.ranks] == [
        (3, "status", "ABORT", None),
        (4, "launched", "AllGather 0", 7),
        (5, "launched", "AllGather 0", 7),
    ]
    verdict = _judged(reading)
    assert verdict.status is Status.WARN
    assert (
        "rank 4 of #0-0 (process 4106 on 10.128.2.30, GPU 4) has launched AllGather 0, others up to 7"
        in verdict.measured
    )


def test_an_answer_that_is_cut_is_missing(tmp_path: Path) -> None:
    """Without the warnings it shows nothing of ranks that are behind."""
    reading = _read(tmp_path, _text().partition("Warnings")[0])
    assert reading.incomplete == "it ends before its warnings"
    assert _judged(reading).status is Status.MISSING


@pytest.mark.parametrize(
    ("answer", "status", "measured"),
    [
        ("healthy.txt", Status.PASS, "1 communicator, all ranks alike"),
        ("behind.txt", Status.WARN, "rank 1 of #0-0 (process 1159 on 10.128.2.31, GPU 1) has launched AllReduce 34"),
        ("behind.json", Status.WARN, "(process 1159 on 10.128.2.31, GPU 1) has launched AllReduce 34, others up to 35"),
        ("silent.txt", Status.FAIL, "process 1245 on 10.128.2.31 (GPU 1) is missing"),
        # Without a comma, as NCCL writes it.
        ("silent.json", Status.FAIL, "process 1245 on 10.128.2.31 (GPU 1) is missing"),
        ("dead.txt", Status.FAIL, "process 1245 on 10.128.2.31 (GPU 1) is dead"),
    ],
)
def test_what_nccl_answered_is_judged(answer: str, status: Status, measured: str) -> None:
    """NCCL 2.28.9 on two H200: in step, one rank 5 s behind, and stopped for 3, 30 and 75 s."""
    (reading,) = read(RECORDED / answer)
    assert isinstance(reading, NcclRas)
    verdict = _judged(reading)
    assert (verdict.status, reading.complete) == (status, True)
    assert measured in verdict.measured


def _rank(rank: int, reduced: int, error: int = 0) -> dict[str, Any]:
    return {
        "rank": rank, "host": "10.128.2.30", "pid": 4100 + rank, "cuda_dev": rank, "nvml_dev": rank,
        "status": {
            "init_state": 0, "async_error": error, "finalize_called": False, "destroy_flag": False, "abort_flag": False
        },
        "collective_counts": {"AllReduce": reduced, "AllGather": 3},
    }  # fmt: skip


def _document(*ranks: dict[str, Any], missing: int | None = None) -> str:
    absent: dict[str, Any] = {"rank": missing, "host": "10.128.2.31", "pid": 4119, "cuda_dev": 5, "nvml_dev": 5}
    absent["status"] = {"unresponsive": True, "considered_dead": True}
    communicator = {
        "hash": "0x8f1c", "secondary_hash": "0x1:0x2", "size": 4, "ranks_count": len(ranks),
        "missing_ranks_count": int(missing is not None), "ranks": ranks,
        "missing_ranks": [absent] if missing is not None else [],
    }  # fmt: skip
    data = {
        "nccl_version": "2.28.3", "cuda_runtime_version": 12090, "cuda_driver_version": 13000,
        "timestamp": "2026-03-01 10:00:00", "communicators_count": 1, "communicators": [communicator],
        "ras": {"collection_time_sec": 0.01, "timeouts_count": 1},
    }  # fmt: skip
    return json.dumps(data, indent=2)


def test_json_shows_the_same(tmp_path: Path) -> None:
    """A missing rank, an error, and a rank with fewer operations than others."""
    reading = _read(tmp_path, _document(_rank(0, 10), _rank(1, 9), _rank(2, 10, error=6), missing=3))
    assert (reading.tool_version, reading.communicators, reading.silent, reading.timeouts) == ("2.28.3", 1, 1, 1)
    assert [(row.rank, row.fact, row.is_behind) for row in reading.ranks] == [
        (3, "missing", False),
        (1, "launched", True),
        (2, "error", False),
    ]
    assert _judged(reading).status is Status.FAIL
    assert _judged(_read(tmp_path, _document(_rank(0, 10), _rank(1, 10)))).status is Status.PASS
    assert _judged(_read(tmp_path, _document(_rank(0, 10))[:-40])).status is Status.MISSING
