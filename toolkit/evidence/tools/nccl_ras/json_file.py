"""Reads `ncclras -f json`, a file of one document."""

import json
import re
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from toolkit.evidence.parser import ending
from toolkit.evidence.tools.nccl_ras.model import NcclRas, Process, Rank

_HEAD = re.compile(rb'\s*\{.{0,1000}"communicators_count":', re.DOTALL)
_IN_PROGRESS = 7
"""ncclInProgress of ncclResult_t."""
_LARGEST = 256 << 20
"""Bytes."""
_NO_COMMA = re.compile(rb'("nvml_dev": -?\d+)(?=\s+"status":)')
"""What NCCL 2.28.9 writes of a rank that is missing, and no JSON parser takes."""


def is_ras(head: bytes) -> bool:
    """Return whether a file that begins like this is such a document."""
    return _HEAD.match(head) is not None


def read(file: BinaryIO, name: str) -> NcclRas:
    """Return the reading of a document; one that is cut, or of another form, is incomplete."""
    fault, data = None, {}
    ranks: list[Rank] = []
    try:
        data = json.loads(_NO_COMMA.sub(rb"\1,", file.read(_LARGEST)))
        ranks = [rank for communicator in data["communicators"] for rank in _ranks(communicator)]
    except (ValueError, EOFError, zlib.error, RecursionError, TypeError, KeyError, AttributeError) as error:
        fault = f"not read: it is cut, or not ncclras's: {error!r}"
    silent = {
        (rank["host"], rank["pid"]): rank
        for communicator in (data.get("communicators", ()) if not fault else ())
        for rank in communicator["missing_ranks"]
        if rank["status"]["unresponsive"] or rank["status"]["considered_dead"]
    }
    return NcclRas(
        tool="nccl-ras",
        tool_version=None if fault else data.get("nccl_version"),
        file=name,
        first_line=1,
        last_line=1,
        communicators=0 if fault else len(data["communicators"]),
        processes=tuple(
            Process(
                state="dead" if rank["status"]["considered_dead"] else "missing",
                pid=pid,
                node=host,
                gpus=str(rank["cuda_dev"]),
                line=1,
            )
            for (host, pid), rank in silent.items()
        ),
        silent=len(silent),
        ranks=tuple(ranks),
        timeouts=0 if fault else data.get("ras", {}).get("timeouts_count", 0),
        **ending(fault),
    )


def _ranks(communicator: Mapping[str, Any]) -> Iterator[Rank]:
    """Yield the ranks that do not answer, have an error, or have launched fewer operations than others."""
    name = communicator["hash"]
    for rank in communicator["missing_ranks"]:
        silent = rank["status"]["unresponsive"] or rank["status"]["considered_dead"]
        # A process that answers, and is no member any more, has no communicator.
        yield Rank(fact="missing" if silent else "status", value="" if silent else "NOCOMM", **_place(name, rank))
    most: dict[str, int] = {}
    for rank in communicator["ranks"]:
        for operation, count in rank["collective_counts"].items():
            most[operation] = max(most.get(operation, 0), count)
    for rank in communicator["ranks"]:
        error = rank["status"]["async_error"]
        if error not in (0, _IN_PROGRESS):
            yield Rank(fact="error", value=f"ncclResult_t {error}", **_place(name, rank))
        for operation, count in rank["collective_counts"].items():
            if count < most[operation]:
                value = f"{operation} {count}"
                yield Rank(fact="launched", value=value, launched=count, most=most[operation], **_place(name, rank))


def _place(communicator: str, rank: Mapping[str, Any]) -> dict[str, Any]:
    known = rank["pid"] >= 0
    return {
        "communicator": communicator,
        "rank": rank["rank"],
        "pid": rank["pid"] if known else None,
        "node": rank["host"] if known else None,
        "gpu": str(rank["cuda_dev"]),
        "line": 1,
    }
