"""What outputs of switches and hosts are compared with: a module each, found by itself, which defines `COMPARISON`.

A comparison names the tools of `evidence/tools` whose readings it compares; one tool has one comparison.
"""

import importlib
import pkgutil
from collections.abc import Mapping

from cli.site.comparison import Comparison

_ALL: tuple[Comparison, ...] = tuple(
    importlib.import_module(f"{__name__}.{each.name}").COMPARISON for each in pkgutil.iter_modules(__path__)
)
COMPARISONS: Mapping[str, Comparison] = {tool: each for each in _ALL for tool in each.tools}
"""By the name of the tool."""
if len(COMPARISONS) != sum(len(each.tools) for each in _ALL):
    raise TypeError(f"{__name__}: two modules compare the output of one tool; leave it out in one of them")
