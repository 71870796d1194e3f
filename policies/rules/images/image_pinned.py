"""An image is named by its digest or by a tag that does not move."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache

from pydantic import Field

from core.apis.kinds import CATALOG_SOURCE
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import ALL_KINDS, Parameters, Rule
from policies.views.images import has_image_stream, parse
from policies.views.object_images import images

_FOLLOWS = (CATALOG_SOURCE.group, CATALOG_SOURCE.kind)
"""A catalogue follows its tag on purpose: OLM pulls it again, and subscriptions name the versions."""


class ImagePinned(Parameters):
    """What counts as pinned."""

    moving_tags: tuple[str, ...] = Field(
        default=("latest", "latest-*", "*-latest", "main", "master", "nightly", "edge", "stable", "stable-*"),
        description="patterns of tags that their owners move; * matches any",
    )
    digest_only: bool = Field(default=False, description="whether a tag without a digest is refused, too")


def _examine(subject: Obj, _: Inventory, parameters: ImagePinned) -> Iterator[Violation]:
    for container in subject.containers:
        reference = container.text("image")
        if not reference.strip() and has_image_stream(subject):
            continue
        if reference and (fault := _fault(reference, parameters.moving_tags, parameters.digest_only)):
            yield container.violation(fault, "image")
    if (subject.group, subject.kind) == _FOLLOWS:
        return
    for image in images(subject):
        if image.late:
            yield subject.unverified(image.late, *image.path)
        elif fault := _fault(image.reference, parameters.moving_tags, parameters.digest_only):
            yield subject.violation(fault, *image.path)


@lru_cache(maxsize=4096)
def _fault(reference: str, moving: tuple[str, ...], digest_only: bool) -> str:
    image = parse(reference)
    if image.fault:
        return f"image {reference[:200]!r} {image.fault}"
    if image.digest:
        return ""
    if not image.tag:
        return f"image {reference} has neither a digest nor a tag, which means the tag latest"
    if any(fnmatchcase(image.tag, pattern) for pattern in moving):
        return f"image {reference} has the tag {image.tag}, which moves"
    return f"image {reference} has a tag and no digest" if digest_only else ""


IMAGE_PINNED = Rule(
    name="image-pinned",
    what="Every image, of containers, builds and operators' custom resources, is named by a digest, or by a tag that "
    "its owner does not move.",
    why="Workers that pull at different times get different builds under one tag: MPI ends with `mpirun noticed that "
    "process rank ... exited`, or results cannot be repeated. The tag latest is pulled again at every start (its "
    "default imagePullPolicy is Always), and an old tag may be gone (ErrImagePull).",
    remedy="Name the image by its digest (name@sha256:...) or by the tag of a release",
    source="E-39, E-65, P-11, platform-facts 4.3 rule 28",
    severity=Severity.MANDATORY,
    parameters=ImagePinned,
    examine=_examine,
    kinds=ALL_KINDS,
)
