"""Cables of example stacks."""

from stacks.loading import settings
from stacks.site import assembly as site
from stacks.site.site import Site
from tests.support.recorded import ROOT
from toolkit.site.groups.fabric import cables
from toolkit.site.groups.fabric.cables import Cables


def of(stack: str, machines: int | None = None) -> Site:
    """Return the site of a stack, or of its first machines."""
    found = site.of(settings.load(stack, ROOT), stack)
    return found if machines is None else found.model_copy(update={"hosts": found.gpu_hosts[:machines]})


def planned(found: Site) -> Cables:
    """Return the cables of a site between its machines."""
    return next(each for each in cables.of(found) if isinstance(each, Cables) and not each.name)
