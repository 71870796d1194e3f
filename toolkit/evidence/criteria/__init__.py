"""What finished jobs must show, each criterion with its limit and where that is from.

Here are those that need several tools, or none; what one tool's output decides is beside its parser (evidence/tools).
"""

import importlib
import pkgutil
from collections.abc import Iterable
from types import ModuleType

from toolkit.evidence.criteria import (
    channels,
    cluster_nodes,
    comparisons,
    goodput,
    logs,
    machine_and_fabric,
    metrics,
    mtu,
    rails,
    stuck_ranks,
    training,
    transport,
)
from toolkit.evidence.criterion import Comparison, Criterion
from toolkit.evidence.tools import TOOLS

CRITERIA: tuple[Criterion, ...] = (
    *logs.CRITERIA,
    *cluster_nodes.CRITERIA,
    *machine_and_fabric.CRITERIA,
    *transport.CRITERIA,
    *rails.CRITERIA,
    *channels.CRITERIA,
    *training.CRITERIA,
    *mtu.CRITERIA,
    *metrics.CRITERIA,
    *goodput.CRITERIA,
    *stuck_ranks.CRITERIA,
    *(criterion for tool in TOOLS for criterion in tool.criteria),
)
"""Of one job, in the order in which verdicts are shown."""
COMPARISONS: tuple[Comparison, ...] = (*comparisons.COMPARISONS, *metrics.COMPARISONS)
"""Between jobs."""


def refuse_unlisted(modules: Iterable[ModuleType]) -> None:
    """Raise TypeError for a module here that defines no criteria, or whose criteria no job is judged by."""
    for module in modules:
        file = f"{module.__name__.replace('.', '/')}.py"
        own = {*getattr(module, "CRITERIA", ()), *getattr(module, "COMPARISONS", ())}
        if not own:
            raise TypeError(f"{file} lacks CRITERIA; set it to a tuple of what the module decides")
        if not own <= {*CRITERIA, *COMPARISONS}:
            raise TypeError(
                f"{file}: its CRITERIA are not in CRITERIA of evidence/criteria/__init__.py; add them in the order in "
                "which verdicts are shown"
            )


refuse_unlisted(importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__))
