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
    known = {parser.tool for parser in PARSERS}
    found: dict[str, Comparison] = {}
    for each in comparisons:
        for tool in each.tools:
            if tool not in known:
                raise TypeError(f"{__name__}: no parser of toolkit/evidence/tools is called {tool}; correct the name")
            if tool in found:
                raise TypeError(f"{__name__}: two modules compare the output of {tool}; leave it out in one of them")
            found[tool] = each
    return found


COMPARISONS = by_tool(
    importlib.import_module(f"{__name__}.{each.name}").COMPARISON for each in pkgutil.iter_modules(__path__)
)
