"""What a stack pulls from outside, as its manifests name it."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.apis import kinds
from policies.manifests.objects import Obj, objects
from policies.views.images import Image, parse
from policies.views.named_images import images_of
from stacks.settings.platform import Settings
from stacks.settings.site.content import Content, ImageName, Package

Manifest = Mapping[str, Any]
_DEFAULT_TAG = "latest"
"""What a reference without tag and digest means."""


def of(settings: Settings, manifests: Sequence[Manifest]) -> Content:
    """Return images and packages that the manifests of a stack name, but for images that its own builds push."""
    images = images_of(manifests)
    own = f"{settings.version.registry}/"
    outside = {image: parse(image) for image in sorted(images.whole - images.built) if not image.startswith(own)}
    unknown = [f"image {name!r}, which {image.fault}" for name, image in outside.items() if image.fault]
    unknown += [f"what the Containerfile of build {build} names, in its repository" for build in sorted(images.unread)]
    if settings.scale_pods:
        unknown.append(f"images of Storage Scale container native {settings.scale_pods.version}, in IBM's manifest")
    return Content(
        images=tuple(_in_full(image) for image in outside.values() if not image.fault),
        packages=tuple(_package(obj) for manifest in manifests for obj in objects(manifest) if _subscribes(obj)),
        incomplete=tuple(sorted(images.beginnings)),
        unknown=tuple(unknown),
    )


def _in_full(image: Image) -> ImageName:
    tag = image.tag or ("" if image.digest else _DEFAULT_TAG)
    return ImageName(repository=image.home, tag=tag, digest=image.digest)


def _subscribes(subject: Obj) -> bool:
    return (subject.group, subject.kind) == (kinds.SUBSCRIPTION.group, kinds.SUBSCRIPTION.kind)


def _package(subscription: Obj) -> Package:
    name, channel, source = (subscription.text("spec", field) for field in ("name", "channel", "source"))
    return Package(name=name, channel=channel, catalogue=source)
