"""Scale: clients of Spectrum Scale on hosts, by IBM's commands or by IBM's Ansible collection."""

from collections.abc import Iterator

from stacks.site.site import Site
from toolkit.site.groups.scale import commands, variables
from toolkit.site.groups.scale.attributes import attributes
from toolkit.site.output import File, Group, Open


def _render(site: Site) -> Iterator[File | Open]:
    if site.scale is None:
        return
    if site.settings.scale is None:
        remedy = "set site.scale; without it nothing is written for Spectrum Scale's clients"
        yield Open("the names of the clients' cluster and of the one that owns the file system", remedy)
        return
    scale_attributes, missing = attributes(site, site.scale, site.settings.scale)
    yield from missing
    yield commands.file(site, site.scale, site.settings.scale, scale_attributes)
    yield from variables.files(site, site.scale, site.settings.scale, scale_attributes)


GROUP = Group("scale", "clients of Spectrum Scale on hosts", _render)
