"""What outputs of switches and hosts are compared with: a module each, found by itself, which defines `COMPARISON`.

A comparison names the tools of `toolkit/evidence/tools` whose readings it compares; one tool has one comparison.
"""

import importlib
import pkgutil
from collections.abc import Iterable, Mapping

from toolkit.cli.site.comparison import Comparison
from toolkit.evidence.tools import PARSERS


def by_tool(comparisons: Iterable[Comparison]) -> Mapping[str, Comparison]:
    """Return comparisons by their tools; raise TypeError for an unknown tool, and one of two comparisons."""
    tools = {parser.tool for parser in PARSERS}
    comparison_of: dict[str, Comparison] = {}
    for comparison in comparisons:
        for tool in comparison.tools:
            if tool not in tools:
                raise TypeError(f"{__name__}: no parser of toolkit/evidence/tools is called {tool}; correct the name")
            if tool in comparison_of:
                raise TypeError(f"{__name__}: two modules compare the output of {tool}; leave it out in one of them")
            comparison_of[tool] = comparison
    return comparison_of


COMPARISONS = by_tool(
    importlib.import_module(f"{__name__}.{module.name}").COMPARISON for module in pkgutil.iter_modules(__path__)
)
