"""References to container images, taken apart as container runtimes do, and those that objects name outside of pods.

The latter are of operators' custom resources, of catalogues and of builds. Where a kind has a whole reference is data
of `kinds`. Operators of NVIDIA take one in three parts, `repository`, `image` and `version`; these are looked for in
every custom resource.

`images_of` has all that manifests name: not images of OpenShift itself, nor what operators of a catalogue bring along.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from core.apis import kinds
from core.apis.kind import Kind
from core.apis.kinds import DEPLOYMENT_CONFIG
from policies.manifests.objects import Obj, objects
from policies.manifests.part import Part
from policies.manifests.pod_specs import NO_PODS, is_object
from policies.manifests.pods import Container
from policies.manifests.values import Path, Tree, Unknown, entries, is_mapping

DOCKER_HUB = "docker.io"
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
        return f"{DOCKER_HUB}/library/{self.path}" if self.bare else f"{DOCKER_HUB}/{self.path}"


def has_image_stream(subject: Obj) -> bool:
    """Return whether OpenShift fills in images of an object from image streams, so that it need not name one."""
    if "image.openshift.io/triggers" in subject.mapping("metadata", "annotations"):
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


_PARTS = ("repository", "image", "version")
_NVIDIA = (kinds.CLUSTER_POLICY.group, kinds.NIC_CLUSTER_POLICY.group)
"""Groups whose operators take `image` as the whole reference where the other two parts are empty."""
_BY_NODE: tuple[tuple[Kind, str], ...] = (
    (kinds.CLUSTER_POLICY, "driver"),
    (kinds.NVIDIA_DRIVER, "spec"),
    (kinds.NIC_CLUSTER_POLICY, "ofedDriver"),
    (kinds.NIC_NODE_POLICY, "ofedDriver"),
)
"""Fields whose image gets a suffix from the operator: the operating system of the nodes that it runs on."""
_WHOLE = {(kind.group, kind.kind): kind.images for kind in kinds.KINDS if kind.images}
_BUILDS = tuple((kind.group, kind.kind) for kind in (kinds.BUILD_CONFIG, kinds.BUILD))
_CONTINUED = re.compile(r"\\[ \t]*\n")
_FROM = re.compile(
    r"^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(?P<image>\S+)(?:[ \t]+AS[ \t]+(?P<stage>\S+))?[ \t]*$", re.I | re.M
)
_COPY = re.compile(r"^[ \t]*COPY[ \t]+(?:--\S+[ \t]+)*?--from=(?P<image>\S+)", re.I | re.M)


@dataclass(frozen=True)
class ObjectImage:
    """A reference, and the field that has it, or its last part."""

    reference: str
    path: Path
    by_node: bool = False
    """Whether the operator appends what it finds on a node to the tag."""

    @property
    def late(self) -> str:
        """Why it is unknown which image is meant; empty where it is known."""
        return f"image {self.reference} depends on an argument of the build" if "$" in self.reference else ""


def images(subject: Obj) -> Iterator[ObjectImage]:
    """Yield the images that an object names outside of pods, without those that are unknown until the update."""
    kind = subject.group, subject.kind
    if kind in _BUILDS:
        yield from _of_build(subject)
    for path in _WHOLE.get(kind, ()):
        if reference := subject.text(*path):
            yield ObjectImage(reference, path)
    if subject.group and not subject.has_pods:
        for place, tree in _holders(subject.tree, (), subject.group in _NVIDIA):
            yield from _operand(Part(subject, place, tree))


def _holders(tree: Tree, path: Path, whole: bool) -> Iterator[tuple[Path, Mapping[str, Tree]]]:
    """Yield what has an image in three parts or, with `whole`, in the field `image` alone."""
    if is_mapping(tree):
        if path and is_object(tree):
            return
        if all(key in tree for key in _PARTS) or (whole and "image" in tree):
            yield path, tree
        for key, value in tree.items():
            if key not in NO_PODS:
                yield from _holders(value, (*path, key), whole)
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            yield from _holders(value, (*path, index), whole)


def _operand(part: Part) -> Iterator[ObjectImage]:
    repository, image, version = (part.text(key) for key in _PARTS)
    owner, field = part.object, part.path[-1:]
    if repository and image and version:
        reference = f"{repository}/{image}{'@' if ':' in version else ':'}{version}"
        by_node = any((owner.group, owner.kind, field) == (kind.group, kind.kind, (name,)) for kind, name in _BY_NODE)
        yield ObjectImage(reference, (*part.path, "version"), by_node)
    elif "/" in image and not any(part.read(key) for key in ("repository", "version")):
        yield ObjectImage(image, (*part.path, "image"))


def _of_build(build: Obj) -> Iterator[ObjectImage]:
    replaced = False
    for strategy in build.mapping("spec", "strategy"):
        path: Path = ("spec", "strategy", strategy, "from")
        replaced |= bool(build.read(*path))
        yield from _docker_image(build, path)
    for index in range(len(build.entries("spec", "source", "images"))):
        yield from _docker_image(build, ("spec", "source", "images", index, "from"))
    path = ("spec", "source", "dockerfile")
    for reference in of_containerfile(build.text(*path), replaced=replaced):
        yield ObjectImage(reference, path)


def _docker_image(build: Obj, path: Path) -> Iterator[ObjectImage]:
    """Yield the image of an object reference of OpenShift; nothing for a tag of an image stream."""
    if build.text(*path, "kind") == "DockerImage" and (reference := build.text(*path, "name")):
        yield ObjectImage(reference, (*path, "name"))


def of_containerfile(text: str, *, replaced: bool = False) -> Iterator[str]:
    """Yield the images that a Containerfile builds on and copies from, not its own stages.

    `replaced` says that the build has another image for the last one that it builds on.
    """
    joined = _CONTINUED.sub(" ", text)
    last = max((base.start() for base in _FROM.finditer(joined)), default=-1)
    stages = {"scratch"}
    at = 0
    for line in joined.splitlines(keepends=True):
        if (base := _FROM.match(line)) is not None:
            if base["image"].lower() not in stages and not (replaced and at <= last < at + len(line)):
                yield base["image"]
            stages.add((base["stage"] or "").lower())
        elif (copied := _COPY.match(line)) is not None:
            image = copied["image"]
            if image.lower() not in stages and not image.isdecimal():
                yield image
        at += len(line)


_IMAGE_FLAG = re.compile(r"--?[\w-]*image(?:=(?P<image>.+))?$")
"""An argument that gives a controller the image of its pods, e.g. --kubectl-delivery-image."""


@dataclass(frozen=True)
class NamedImages:
    """References as they are written."""

    whole: frozenset[str]
    """Images that nodes and builds pull."""
    beginnings: frozenset[str]
    """Images to whose tag an operator appends what it finds on a node."""
    built: frozenset[str]
    """Images that a build of the manifests pushes: they need not exist before."""
    unread: frozenset[str]
    """Builds whose Containerfile is in a repository, as namespace/name: what it names is not known."""


def images_of(manifests: Iterable[Mapping[str, Any]]) -> NamedImages:
    """Return the images that manifests name; values that are unknown until the update are left out."""
    subjects = [subject for manifest in manifests for subject in objects(manifest)]
    builds = [
        subject
        for subject in subjects
        if (subject.group, subject.kind) == (kinds.BUILD_CONFIG.group, kinds.BUILD_CONFIG.kind)
    ]
    others = [image for subject in subjects for image in images(subject)]
    whole = {
        *(image for subject in subjects for container in subject.containers for image in _of_container(container)),
        *(image.reference for image in others if not image.by_node),
    }
    return NamedImages(
        whole=frozenset(filter(None, whole)),
        beginnings=frozenset(image.reference for image in others if image.by_node),
        built=frozenset(
            build.text("spec", "output", "to", "name")
            for build in builds
            if build.read("spec", "output", "to", "kind") == "DockerImage"
        )
        - {""},
        unread=frozenset(
            f"{build.text('metadata', 'namespace')}/{build.text('metadata', 'name')}"
            for build in builds
            if build.read("spec", "source", "dockerfile") is None
        ),
    )


def _of_container(container: Container) -> Iterator[str]:
    yield _known_text(container.read("image"))
    words = [_known_text(word) for field in ("command", "args") for word in entries(container.tree, field)]
    for word, following in pairwise([*words, ""]):
        if (flag := _IMAGE_FLAG.match(word)) is not None:
            yield flag["image"] or ("" if following.startswith("-") else following)


def _known_text(value: Tree) -> str:
    return value if isinstance(value, str) and not isinstance(value, Unknown) else ""
