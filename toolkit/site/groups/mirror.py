"""Mirror: what to copy to a registry that a closed cluster reaches, and how nodes find the copies there."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from core.apis import kinds
from core.apis.kind import Kind
from stacks.settings.site.mirror import ImageName, MirrorSettings, Package, PlatformMirror
from stacks.site.site import Site
from toolkit.site.output import File, Group, Open

IMAGE_SET = "mirror/imageset.yaml"
_CATALOGUES = {
    "redhat-operators": "registry.redhat.io/redhat/redhat-operator-index",
    "certified-operators": "registry.redhat.io/redhat/certified-operator-index",
    "community-operators": "registry.redhat.io/redhat/community-operator-index",
    "redhat-marketplace": "registry.redhat.io/redhat/redhat-marketplace-index",
}
"""OpenShift's own catalogues -> their images, with a tag for each release (OpenShift, Disconnected environments)."""
_IMAGE_SET_NOTE = """\
# Run where the internet and the mirror are reached:
# oc mirror -c imageset.yaml --workspace file://workspace docker://{registry} --v2
# It also writes what makes the cluster use the copies of OpenShift and of operators, in workspace's cluster-resources.
"""
_REDIRECTS_NOTE = (
    "# Copy the images first. Once this is applied, the Machine Config Operator changes every node, a pool at a time.\n"
)
_NOTE = """\
# SOURCE=COPY for every image that the stack's manifests name; images of OpenShift and of operators are not among them.
# Run where both registries are reached: oc image mirror --keep-manifest-list=true -f mapping.txt
"""


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
        tag = image.digest.replace(":", "-")[: len("sha256-") + 12] if image.digest else image.tag
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


def image_set(site: Site, mirror: MirrorSettings, copies: Copies) -> Iterator[File | Open]:
    """Yield the ImageSetConfiguration of oc-mirror v2: OpenShift, operators and images in one list.

    Nothing for a release that cannot use what oc-mirror v2 writes for it. Fields are those of openshift/oc-mirror,
    v2/internal/pkg/api/v2alpha1/type_config.go.
    """
    if site.image_mirrors != "digests-and-tags":
        operators = ", ".join(f"operator {package.name} ({package.channel})" for package in site.content.packages)
        yield Open(
            f"copies of OpenShift {site.release} itself{' and of ' if operators else ''}{operators}",
            "copy them by the release's own tools for restricted networks; oc-mirror v2 is for 4.13 and later",
        )
        return
    packages = [package for package in site.content.packages if package.catalogue in _CATALOGUES]
    for package in site.content.packages:
        if package not in packages:
            yield Open(
                f"the image of catalogue {package.catalogue}, which has package {package.name}",
                "add the catalogue to imageset.yaml yourself: oc get catalogsource -n openshift-marketplace",
            )
    if mirror.platform is None:
        yield Open("which releases of OpenShift to copy", "set site.mirror.platform, or copy none")
    content = {
        **({"platform": _platform(mirror.platform)} if mirror.platform else {}),
        **({"operators": list(_operators(site.release, packages))} if packages else {}),
        **({"additionalImages": [{"name": copy.image.pulled} for copy in copies.all]} if copies.all else {}),
    }
    if content:
        kind = kinds.IMAGE_SET_CONFIGURATION
        body = {"apiVersion": kind.api_version, "kind": kind.kind, "mirror": content}
        text = yaml.safe_dump(body, sort_keys=False, width=120)
        yield File(IMAGE_SET, _IMAGE_SET_NOTE.format(registry=mirror.registry) + text, sources=("R-2.1-5",))


def _platform(platform: PlatformMirror) -> dict[str, Any]:
    channel = {"name": platform.channel, "minVersion": platform.first, "maxVersion": platform.last}
    return {"channels": [{key: value for key, value in channel.items() if value}]}


def _operators(release: str, packages: list[Package]) -> Iterator[dict[str, Any]]:
    for catalogue, image in _CATALOGUES.items():
        ours = sorted({(package.name, package.channel) for package in packages if package.catalogue == catalogue})
        if ours:
            names = dict.fromkeys(name for name, _ in ours)
            yield {
                "catalog": f"{image}:v{release}",
                "packages": [
                    {"name": name, "channels": [{"name": channel} for package, channel in ours if package == name]}
                    for name in names
                ],
            }


def redirects(site: Site, mirror: MirrorSettings, copies: Copies) -> Iterator[File | Open]:
    """Yield the objects by which nodes find an image in the mirror; open are images for which the release has none."""
    if site.image_mirrors == "digests-and-tags":
        policy = {"mirrorSourcePolicy": "NeverContactSource"} if mirror.closed else {}
        yield from _redirect("idms", kinds.IMAGE_DIGEST_MIRROR_SET, "imageDigestMirrors", copies.of_digests, policy)
        yield from _redirect("itms", kinds.IMAGE_TAG_MIRROR_SET, "imageTagMirrors", copies.of_tags, policy)
        return
    remedy = f"name their copies at {mirror.registry} in the settings, as mapping.txt has them"
    if site.image_mirrors == "digests":
        yield from _redirect(
            "icsp", kinds.IMAGE_CONTENT_SOURCE_POLICY, "repositoryDigestMirrors", copies.of_digests, {}
        )
        remedy = f"name them by digest (name@sha256:...), or {remedy}"
    lost = copies.of_tags if site.image_mirrors == "digests" else copies.all
    if lost:
        why = (
            "without a digest, and nodes look for a mirror of images by digest alone (ImageContentSourcePolicy)"
            if site.image_mirrors == "digests"
            else "of any form, for which nodes of this release have no configuration of mirrors"
        )
        names = ", ".join(copy.image.pulled for copy in lost)
        yield Open(f"OpenShift {site.release}: images {why}: {names}", remedy)


def _redirect(name: str, kind: Kind, field: str, copies: Iterable[Copy], policy: dict[str, str]) -> Iterator[File]:
    pairs = sorted({(copy.image.repository, copy.repository) for copy in copies})
    if not pairs:
        return
    entries = [{"source": source, "mirrors": [mirror], **policy} for source, mirror in pairs]
    body: dict[str, Any] = {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": "stack-images"},
        "spec": {field: entries},
    }
    yield File(
        f"mirror/{name}.yaml", _REDIRECTS_NOTE + yaml.safe_dump(body, sort_keys=False, width=120), sources=("R-2.1-5",)
    )


def _render(site: Site) -> Iterator[File | Open]:
    if site.settings.mirror is None:
        return
    copies = Copies.of(site, site.settings.mirror)
    yield from copies.open
    yield from _mapping(copies)
    yield from image_set(site, site.settings.mirror, copies)
    yield from redirects(site, site.settings.mirror, copies)


def _mapping(copies: Copies) -> Iterator[File]:
    """Yield the lines of `oc image mirror -f`, every image and its copy; nothing where there are no images."""
    lines = [f"{copy.image.pulled}={copy.reference}\n" for copy in copies.all]
    if lines:
        yield File("mirror/mapping.txt", _NOTE + "".join(lines), sources=("R-2.1-5",))


GROUP = Group("mirror", "images to copy, and where nodes find the copies", _render)
