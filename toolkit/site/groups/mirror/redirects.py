"""Objects by which nodes find an image in the mirror: ImageDigestMirrorSet, ImageTagMirrorSet, the older policy."""

from collections.abc import Iterable, Iterator
from typing import Any

import yaml

from core.apis import kinds
from core.apis.kind import Kind
from stacks.settings.site.mirror import MirrorSettings
from stacks.site.site import Site
from toolkit.site.groups.mirror.copies import Copies, Copy
from toolkit.site.output import File, Open

_NAME = "stack-images"
_NOTE = (
    "# Copy the images first. Once this is applied, the Machine Config Operator changes every node, a pool at a time.\n"
)


def files(site: Site, mirror: MirrorSettings, copies: Copies) -> Iterator[File | Open]:
    """Yield the objects of the release; open are images for which the release has none."""
    if site.image_mirrors == "digests-and-tags":
        policy = {"mirrorSourcePolicy": "NeverContactSource"} if mirror.closed else {}
        yield from _file("idms", kinds.IMAGE_DIGEST_MIRROR_SET, "imageDigestMirrors", copies.of_digests, policy)
        yield from _file("itms", kinds.IMAGE_TAG_MIRROR_SET, "imageTagMirrors", copies.of_tags, policy)
        return
    remedy = f"name their copies at {mirror.registry} in the settings, as mapping.txt has them"
    if site.image_mirrors == "digests":
        yield from _file("icsp", kinds.IMAGE_CONTENT_SOURCE_POLICY, "repositoryDigestMirrors", copies.of_digests, {})
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


def _file(name: str, kind: Kind, field: str, copies: Iterable[Copy], policy: dict[str, str]) -> Iterator[File]:
    pairs = sorted({(copy.image.repository, copy.repository) for copy in copies})
    if not pairs:
        return
    entries = [{"source": source, "mirrors": [mirror], **policy} for source, mirror in pairs]
    body: dict[str, Any] = {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": _NAME},
        "spec": {field: entries},
    }
    yield File(f"mirror/{name}.yaml", _NOTE + yaml.safe_dump(body, sort_keys=False, width=120), sources=("R-2.1-5",))
