"""Which tools' output a job was to print: where it is absent, evidence is missing."""

from collections.abc import Mapping

from toolkit.evidence.criterion import NCCL
from toolkit.evidence.tools import PARSERS
from toolkit.evidence.verdict import Job, Request

TOOLS: frozenset[str] = frozenset({NCCL, *(parser.tool for parser in PARSERS)})
"""What a program may name in `prints`."""

EXCUSES: Mapping[str, str] = {parser.tool: parser.excuse for parser in PARSERS if parser.excuse is not None}
"""Tool -> the message by which a job reports that its output is not available."""


def expected_tools(request: Request) -> frozenset[str]:
    """Return the tools whose output a job was to hold; none of a program that does not name any.

    A transport between nodes is shown by NCCL alone, whatever the program is.
    """
    tools = frozenset(parser.tool for parser in PARSERS if parser.is_expected(request))
    if NCCL in request.prints or (request.transport is not None and not request.is_rdma_test):
        tools |= {NCCL}
    return tools


def excused_tools(job: Job) -> frozenset[str]:
    """Return the tools of which the job itself reports that it cannot have them, and of which it shows no row."""
    messages = {line.text for reading in job.readings for line in reading.unread}
    messages |= {message for reading in job.readings if (message := reading.refusal()) is not None}
    shown = {reading.tool for reading in job.readings if getattr(reading, "rows", None)}
    return frozenset(
        tool for tool, words in EXCUSES.items() if tool not in shown and any(words in message for message in messages)
    )
