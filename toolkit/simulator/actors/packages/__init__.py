"""The operators that can be installed here: one module a family, and one for those that no catalogue has.

A module has `PACKAGES`, what the catalogue offers, and `ACTORS`, the actors and their images: image names, what the
command must contain, the actor. Modules are discovered: adding a family is adding a module, and touches no other file.
"""

import pkgutil
from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import ModuleType

from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.package import Package
from toolkit.simulator.actors.podactor import PodActor
from toolkit.simulator.actors.podlogs import PodLogs
from toolkit.simulator.actors.runtime import Runtime

Factory = Callable[[Runtime, PodLogs, Object], PodActor]
Images = tuple[frozenset[str], str, Factory]


@cache
def packages() -> dict[str, Package]:
    """Return all packages by name."""
    return {package.name: package for module in _modules() for package in module.PACKAGES}


@cache
def actors() -> tuple[Images, ...]:
    """Return the actors of all families, with their images."""
    return tuple(entry for module in _modules() for entry in module.ACTORS)


def _modules() -> list[ModuleType]:
    return [import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
