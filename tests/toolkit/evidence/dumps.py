"""Dumps of PyTorch's flight recorder as the recorder writes them, of jobs of as many ranks as needed."""

import io
import json
from typing import Any

from toolkit.evidence.flight_recorder.dump import FlightRecorder, read


def content(enqueued: int, ranks: int = 2, *, name: str = "nccl:all_reduce", size: int = 8) -> dict[str, Any]:
    """Return the data of a dump whose rank waits in its last operation."""
    return {
        "version": "2.10",
        "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": str([*range(ranks)])}},
        "pg_status": {
            "0": {
                "last_enqueued_collective": enqueued,
                "last_started_collective": enqueued,
                "last_completed_collective": enqueued - 1,
            }
        },
        "entries": [
            {
                "pg_id": 0,
                "process_group": ("0", "default_pg"),
                "collective_seq_id": number,
                "profiling_name": name if number == enqueued else "nccl:all_reduce",
                "input_sizes": [[size if number == enqueued else 8]],
                "state": "started" if number == enqueued else "completed",
                "is_p2p": False,
                "frames": [
                    {"name": "all_reduce", "filename": "/packages/torch/distributed/distributed_c10d.py", "line": 2501},
                    {"name": "step", "filename": "/app/train.py", "line": 58},
                ],
            }
            for number in range(enqueued - 3, enqueued + 1)
        ],
    }


def dump(rank: int, enqueued: int, ranks: int = 2, **operation: Any) -> FlightRecorder:
    """Return the reading of a rank's dump."""
    data = json.dumps(content(enqueued, ranks, **operation)).encode()
    return read(io.BytesIO(data), f"nccl_trace_rank_{rank}")
