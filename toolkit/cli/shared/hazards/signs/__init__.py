"""The signs of hazards, discovered: each module is one subject, with a function `hazards` of settings and live objects.

Adding one is adding a module, and its cases below `tests/toolkit/cli/shared/hazards/signs/`.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from stacks.settings.platform import Settings
from toolkit.cli.shared.hazards.hazard import Hazard
from toolkit.cli.shared.hazards.live import Live

Sign = Callable[[Settings, Live], Iterator[Hazard]]


def _sign(module: str) -> Sign:
    function: Any = getattr(importlib.import_module(f"{__name__}.{module}"), "hazards", None)
    if not callable(function):
        raise TypeError(f"{__name__.replace('.', '/')}/{module}.py defines no function `hazards`; define it")
    return cast("Sign", function)


SIGNS: Mapping[str, Sign] = {
    module.name.replace("_", "-"): _sign(module.name) for module in pkgutil.iter_modules(__path__)
}
"""By the names of their modules, with hyphens."""
