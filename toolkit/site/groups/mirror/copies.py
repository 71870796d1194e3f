"""Which image goes where in the mirror."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from stacks.settings.site.content import ImageName
from stacks.settings.site.mirror import MirrorSettings
from stacks.site.site import Site
from toolkit.site.output import Open

_DIGITS = 12


@dataclass(frozen=True)
class Copy:
    """An image and its copy."""

    image: ImageName
    registry: str

    @property
    def repository(self) -> str:
        """Where its copy is: the path of the original, below the mirror's registry, as oc-mirror has it, too."""
        return f"{self.registry}/{self.image.path}"

    @property
    def reference(self) -> str:
        """Its copy. One by digest gets a tag, too: oc refuses two copies without a tag in one repository."""
        image = self.image
        tag = image.digest.replace(":", "-")[: len("sha256-") + _DIGITS] if image.digest else image.tag
        return f"{self.repository}:{tag}"


@dataclass(frozen=True)
class Copies:
    """All copies, sorted by original, and what is open about them."""

    of_tags: tuple[Copy, ...]
    of_digests: tuple[Copy, ...]
    open: tuple[Open, ...]

    @property
    def all(self) -> tuple[Copy, ...]:
        """Every copy."""
        return tuple(sorted((*self.of_tags, *self.of_digests), key=lambda copy: copy.image.pulled))

    @classmethod
    def of(cls, site: Site, mirror: MirrorSettings) -> "Copies":
        """Return the copies of what a site's manifests name and its settings add."""
        named = (*site.content.images, *mirror.more)
        images = {image.pulled: image for image in named if not image.repository.startswith(f"{mirror.registry}/")}
        copies = [Copy(image, mirror.registry) for _, image in sorted(images.items())]
        clashing, clashes = _clashes(copies)
        kept = [copy for copy in copies if copy.reference not in clashing]
        return cls(
            of_tags=tuple(copy for copy in kept if not copy.image.digest),
            of_digests=tuple(copy for copy in kept if copy.image.digest),
            open=(*clashes, *_unnamed(site, mirror)),
        )


def _clashes(copies: Iterable[Copy]) -> tuple[frozenset[str], tuple[Open, ...]]:
    images_of: dict[str, list[str]] = {}
    for copy in copies:
        images_of.setdefault(copy.reference, []).append(copy.image.pulled)
    twice = {reference: images for reference, images in images_of.items() if len(images) > 1}
    remedy = "copy one of them yourself to another path, and name it there in the settings"
    return frozenset(twice), tuple(
        Open(f"{' and '.join(images)} would both be {reference}", remedy) for reference, images in twice.items()
    )


def _unnamed(site: Site, mirror: MirrorSettings) -> Iterator[Open]:
    """Yield what is pulled and is in no list; an image of `site.mirror.images` that begins so closes it."""
    for beginning in site.content.incomplete:
        if not any(image.pulled.startswith(f"{beginning}-") for image in mirror.more):
            yield Open(
                f"the whole tag of {beginning}, to which its operator appends the nodes' operating system",
                "add the image with the tag that its vendor lists for your nodes to site.mirror.images",
            )
    for unknown in site.content.unknown:
        yield Open(unknown, "add them to site.mirror.images; this line stays, for no manifest can confirm it")
