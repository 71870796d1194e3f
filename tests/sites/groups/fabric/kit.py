"""Cables of example stacks."""

from sites.groups.fabric import cables
from sites.groups.fabric.cables import Cables
from sites.site import Site
from stacks import settings, site
from tests.support.recorded import ROOT


def of(stack: str, machines: int | None = None) -> Site:
    """Return the site of a stack, or of its first machines."""
    found = site.of(settings.load(stack, ROOT), stack)
    return found if machines is None else found.model_copy(update={"hosts": found.gpu_hosts[:machines]})


def planned(found: Site) -> Cables:
    """Return the cables of a site between its machines."""
    return next(each for each in cables.of(found) if isinstance(each, Cables) and not each.name)
