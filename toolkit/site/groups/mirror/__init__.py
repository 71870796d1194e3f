"""Mirror: what to copy to a registry that a closed cluster reaches, and how nodes find the copies there."""

from collections.abc import Iterator

from stacks.site.site import Site
from toolkit.site.groups.mirror import imageset, mapping, redirects
from toolkit.site.groups.mirror.copies import Copies
from toolkit.site.output import File, Group, Open


def _render(site: Site) -> Iterator[File | Open]:
    if site.given.mirror is None:
        return
    copies = Copies.of(site, site.given.mirror)
    yield from copies.open
    yield from mapping.files(copies)
    yield from imageset.files(site, site.given.mirror, copies)
    yield from redirects.files(site, site.given.mirror, copies)


GROUP = Group("mirror", "images to copy, and where nodes find the copies", _render)
