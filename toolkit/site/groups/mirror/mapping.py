"""Lines of `oc image mirror -f`: every image and its copy."""

from collections.abc import Iterator

from toolkit.site.groups.mirror.copies import Copies
from toolkit.site.output import File

PATH = "mirror/mapping.txt"
_NOTE = """\
# SOURCE=COPY for every image that the stack's manifests name; images of OpenShift and of operators are not among them.
# Run where both registries are reached: oc image mirror --keep-manifest-list=true -f mapping.txt
"""


def files(copies: Copies) -> Iterator[File]:
    """Yield the list; nothing where there are no images."""
    lines = [f"{copy.image.pulled}={copy.reference}\n" for copy in copies.all]
    if lines:
        yield File(PATH, _NOTE + "".join(lines), sources=("R-2.1-5",))
