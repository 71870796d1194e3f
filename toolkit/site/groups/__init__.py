"""All groups of files, discovered: a module or package here defines `GROUP`, whose name is its own."""

import importlib
import pkgutil

from toolkit.site.output import Group


def _group(package: str) -> Group:
    group = getattr(importlib.import_module(f"{__name__}.{package}"), "GROUP", None)
    if not isinstance(group, Group) or group.name != package:
        raise TypeError(f"toolkit/site/groups/{package}: define GROUP, a Group named {package!r}")
    return group


GROUPS: tuple[Group, ...] = tuple(_group(module.name) for module in pkgutil.iter_modules(__path__))
