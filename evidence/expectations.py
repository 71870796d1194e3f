"""Which tools' output each program prints, as their parsers declare it: where it is absent, evidence is missing."""

from collections.abc import Mapping

from evidence.criterion import NCCL
from evidence.tools import PARSERS
from evidence.verdict import RDMA_LISTENER, Job, Request

NCCL_PRINTED_BY = frozenset(
    {
        "nccl-all-reduce",
        "nccl-all-gather",
        "nccl-broadcast",
        "nccl-reduce",
        "nccl-reduce-scatter",
        "resnet50",
        "resnet50-xla",
        "resnet101",
        "resnet50-nvidia",
        "a2d2",
    }
)
"""Programs whose jobs print NCCL_DEBUG=INFO, also on one node."""
_PRINTED_BY: Mapping[str, frozenset[str]] = {
    NCCL: NCCL_PRINTED_BY,
    **{parser.tool: parser.printed_by for parser in PARSERS},
}

PROGRAMS: Mapping[str, frozenset[str]] = {
    program: frozenset(tool for tool, programs in _PRINTED_BY.items() if program in programs)
    for program in sorted(frozenset().union(*_PRINTED_BY.values()) - {RDMA_LISTENER})
}
"""Program of docs/programs.md, and the RDMA test -> tools that it may print, and nccl for messages of NCCL."""

EXCUSES: Mapping[str, str] = {parser.tool: parser.excuse for parser in PARSERS if parser.excuse is not None}
"""Tool -> the message by which a job reports that its output is not available."""


def expected(request: Request) -> frozenset[str]:
    """Return the tools whose output a job was to hold; none of a program that is not known.

    A transport between nodes is shown by NCCL alone, whatever the program is.
    """
    known = frozenset(parser.tool for parser in PARSERS if parser.is_expected(request))
    if request.program in NCCL_PRINTED_BY or (request.transport is not None and not request.is_rdma_test):
        known |= {NCCL}
    return known


def excused(job: Job) -> frozenset[str]:
    """Return the tools of which the job itself reports that it cannot have them, and of which it shows no row."""
    messages = {one.text for each in job.readings for one in each.unread}
    messages |= {message for one in job.readings if (message := one.refusal()) is not None}
    shown = {one.tool for one in job.readings if getattr(one, "rows", None)}
    return frozenset(
        tool for tool, words in EXCUSES.items() if tool not in shown and any(words in message for message in messages)
    )
