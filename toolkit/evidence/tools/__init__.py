"""The tools whose output is read: a module or package each, found by itself.

It defines one `Parser`, the kind of reading that it returns with its figures, and `CRITERIA`, what that output decides.
"""

import importlib
import pkgutil
from dataclasses import replace
from types import ModuleType
from typing import NamedTuple

from toolkit.evidence.criterion import Criterion
from toolkit.evidence.line_shapes import of_shapes
from toolkit.evidence.model import Reading
from toolkit.evidence.parser import Parser


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
