"""Mirror: what to copy to a registry that a closed cluster reaches, and how nodes find the copies there."""

from collections.abc import Iterator

from stacks.site.site import Site
from toolkit.site.groups.mirror import imageset, redirects
from toolkit.site.groups.mirror.copies import Copies
from toolkit.site.output import File, Group, Open

_MAPPING = "mirror/mapping.txt"
_NOTE = """\
# SOURCE=COPY for every image that the stack's manifests name; images of OpenShift and of operators are not among them.
# Run where both registries are reached: oc image mirror --keep-manifest-list=true -f mapping.txt
"""


def _render(site: Site) -> Iterator[File | Open]:
    if site.settings.mirror is None:
        return
    copies = Copies.of(site, site.settings.mirror)
    yield from copies.open
    yield from _mapping(copies)
    yield from imageset.files(site, site.settings.mirror, copies)
    yield from redirects.files(site, site.settings.mirror, copies)


def _mapping(copies: Copies) -> Iterator[File]:
    """Yield the lines of `oc image mirror -f`, every image and its copy; nothing where there are no images."""
    lines = [f"{copy.image.pulled}={copy.reference}\n" for copy in copies.all]
    if lines:
        yield File(_MAPPING, _NOTE + "".join(lines), sources=("R-2.1-5",))


GROUP = Group("mirror", "images to copy, and where nodes find the copies", _render)
