"""All groups of files, discovered: a package here defines `GROUP`, whose name is the package's."""

import importlib
import pkgutil

from toolkit.site.output import Group


def _group(package: str) -> Group:
    found = getattr(importlib.import_module(f"{__name__}.{package}"), "GROUP", None)
    if not isinstance(found, Group) or found.name != package:
        raise TypeError(f"toolkit/site/groups/{package}: define GROUP, a Group named {package!r}")
    return found


GROUPS: tuple[Group, ...] = tuple(_group(each.name) for each in pkgutil.iter_modules(__path__))
