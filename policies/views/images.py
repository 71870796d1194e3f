"""References to container images, taken apart as container runtimes do."""

import re
from dataclasses import dataclass
from functools import lru_cache

from core.apis.kinds import DEPLOYMENT_CONFIG
from policies.manifests.objects import Obj

_TRIGGERS = "image.openshift.io/triggers"
DOCKER_HUB = "docker.io"
_OFFICIAL = "library"
_DIGEST = re.compile(r"[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[0-9a-fA-F]{32,}")
_TAG = re.compile(r"\w[\w.-]{0,127}", re.ASCII)
_PATH = re.compile(r"[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*)*")
_LONGEST = 512


@dataclass(frozen=True, slots=True)
class Image:
    """One reference: `registry[/path]/name[:tag][@digest]`.

    `registry` is empty when none is written; `path` has organisation and name. `fault` says why a runtime refuses it.
    """

    registry: str = ""
    path: str = ""
    tag: str = ""
    digest: str = ""
    fault: str = ""

    @property
    def bare(self) -> bool:
        """Whether it has neither a registry nor an organisation, like `ubuntu`."""
        return not self.registry and "/" not in self.path

    @property
    def home(self) -> str:
        """Registry and path in full; what names no registry counts as Docker Hub's."""
        if self.registry:
            return f"{self.registry}/{self.path}"
        return f"{DOCKER_HUB}/{_OFFICIAL}/{self.path}" if self.bare else f"{DOCKER_HUB}/{self.path}"


def has_image_stream(subject: Obj) -> bool:
    """Return whether OpenShift fills in images of an object from image streams, so that it need not name one."""
    if _TRIGGERS in subject.mapping("metadata", "annotations"):
        return True
    return subject.kind == DEPLOYMENT_CONFIG.kind and any(
        trigger.text("type") == "ImageChange" for trigger in subject.parts("spec", "triggers")
    )


@lru_cache(maxsize=4096)
def parse(reference: str) -> Image:
    """Take a reference apart; what cannot be one has a `fault`, with whatever could be read."""
    if len(reference) > _LONGEST:
        return Image(fault=f"is {len(reference)} characters long")
    name_and_tag, at, digest = reference.partition("@")
    head, slash, last = name_and_tag.rpartition("/")
    name, colon, tag = last.partition(":")
    path = f"{head}{slash}{name}"
    first, _, remainder = path.partition("/")
    registry = first if remainder and ("." in first or ":" in first or first == "localhost") else ""
    path = remainder if registry else path
    fault = ""
    if "://" in reference:
        fault = "starts with a protocol"
    elif not _PATH.fullmatch(path):
        fault = "has capitals in its path" if _PATH.fullmatch(path.lower()) else "is not an image reference"
    elif colon and not _TAG.fullmatch(tag):
        fault = f"has a tag that is none: {tag!r}"
    elif at and not _DIGEST.fullmatch(digest):
        fault = f"has a digest that is none: {digest!r}"
    return Image(registry, path, tag, digest, fault)
