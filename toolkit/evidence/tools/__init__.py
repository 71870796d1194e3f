"""The tools whose output is read: a module or package each, found by itself.

It defines one `Parser`, the kind of reading that it returns with its figures, and `CRITERIA`, what that output decides.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import replace
from types import ModuleType
from typing import NamedTuple

from toolkit.evidence.criterion import NCCL, Criterion
from toolkit.evidence.line_shapes import of_shapes
from toolkit.evidence.model import Reading
from toolkit.evidence.parser import Parser
from toolkit.evidence.verdict import Job, Request


class Tool(NamedTuple):
    """A tool whose output is read."""

    parser: type[Parser]
    criteria: tuple[Criterion, ...]


def tool_of(module: ModuleType) -> Tool:
    """Return the tool that a module defines; raise TypeError with the part that it lacks, and its file."""
    file = f"{module.__name__.replace('.', '/')}{'/__init__' if hasattr(module, '__path__') else ''}.py"
    parsers = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Parser) and value.__module__.startswith(module.__name__)
    ]
    if len(parsers) != 1:
        raise TypeError(
            f"{file} defines {len(parsers)} parsers; define one class that inherits toolkit.evidence.parser.Parser"
        )
    (parser,) = parsers
    for part, meaning in (
        ("tool", "the tool's name"),
        ("starts", "how its output starts"),
        ("kind", "the class that `reading` returns"),
    ):
        if not hasattr(parser, part):
            raise TypeError(f"{file}: {parser.__name__} lacks `{part}`; set it to {meaning}")
    for part in ("starts", "leads"):
        try:
            of_shapes(getattr(parser, part) or "")
        except ValueError as error:
            raise TypeError(f"{file}: `{part}` of {parser.__name__}: {error}") from error
    if not parser.kind.__module__.startswith(module.__name__):
        raise TypeError(f"{file}: `kind` is {parser.kind.__name__}, which other tools share; define a class of its own")
    if parser.kind.figures is Reading.figures and "rows" not in parser.kind.model_fields:
        raise TypeError(f"{file}: {parser.kind.__name__} has no rows to count; define `figures`")
    criteria = getattr(module, "CRITERIA", None)
    if not isinstance(criteria, tuple):
        raise TypeError(f"{file} lacks CRITERIA; set it to a tuple of what the output decides, () for nothing")
    for criterion in criteria:
        if criterion.needs:
            raise TypeError(
                f"{file}: criterion {criterion.name} has needs {criterion.needs}; omit it, or use "
                "toolkit/evidence/criteria"
            )
    return Tool(parser, tuple(replace(criterion, needs=(parser.tool,)) for criterion in criteria))


TOOLS: tuple[Tool, ...] = tuple(
    tool_of(importlib.import_module(f"{__name__}.{submodule.name}")) for submodule in pkgutil.iter_modules(__path__)
)
PARSERS: tuple[type[Parser], ...] = tuple(tool.parser for tool in TOOLS)
"""All parsers; of those whose output starts the same way, the first that matches is used."""
TOOL_NAMES: frozenset[str] = frozenset({NCCL, *(parser.tool for parser in PARSERS)})
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
