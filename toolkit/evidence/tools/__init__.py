"""The tools whose output is read: a module or package for one or for a family of them, found by itself.

It defines a `Parser` of each, the kind of reading that it returns with its figures, and `CRITERIA`, what their output
decides; where it has several parsers, each criterion `needs` the tool of one.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Mapping
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


def tools_of(module: ModuleType) -> Iterator[Tool]:
    """Yield the tools that a module defines; raise TypeError with the part that one lacks, and its file."""
    file = f"{module.__name__.replace('.', '/')}{'/__init__' if hasattr(module, '__path__') else ''}.py"
    parsers = [
        _checked(value, module, file)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Parser) and value.__module__.startswith(module.__name__)
        # What the parsers of a family share reads no tool by itself.
        if not inspect.isabstract(value) or hasattr(value, "tool")
    ]
    tools = [parser.tool for parser in parsers]
    if not tools or len({*tools}) < len(tools):
        raise TypeError(
            f"{file} defines {len(parsers)} parsers; define one class for each tool, which inherits "
            "toolkit.evidence.parser.Parser"
        )
    criteria = getattr(module, "CRITERIA", None)
    if not isinstance(criteria, tuple):
        raise TypeError(f"{file} lacks CRITERIA; set it to a tuple of what the output decides, () for nothing")
    for criterion in criteria:
        if (criterion.needs or len(tools) > 1) and criterion.needs not in [(tool,) for tool in tools]:
            raise TypeError(
                f"{file}: criterion {criterion.name} needs {criterion.needs}; name one of {', '.join(tools)}, or use "
                "toolkit/evidence/criteria"
            )
    whole = [replace(criterion, needs=criterion.needs or (tools[0],)) for criterion in criteria]
    for parser in parsers:
        yield Tool(parser, tuple(criterion for criterion in whole if criterion.needs == (parser.tool,)))


def _checked(parser: type[Parser], module: ModuleType, file: str) -> type[Parser]:
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
    if parser.kind._figures is Reading._figures and "rows" not in parser.kind.model_fields:
        raise TypeError(f"{file}: {parser.kind.__name__} has no rows to count; define `_figures`")
    return parser


TOOLS: tuple[Tool, ...] = tuple(
    sorted(
        (
            tool
            for submodule in pkgutil.iter_modules(__path__)
            for tool in tools_of(importlib.import_module(f"{__name__}.{submodule.name}"))
        ),
        key=lambda tool: tool.parser.tool,
    )
)
PARSERS: tuple[type[Parser], ...] = tuple(tool.parser for tool in TOOLS)
"""All parsers by name; of those whose output starts the same way, the first that matches is used."""
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
