"""All images that manifests name: of containers, of builds, and of operators' custom resources.

What no manifest names is not here: images of OpenShift itself, and those that operators from a catalogue bring along.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from apis import kinds
from apis.kind import Kind
from policies.objects import Obj, objects
from policies.pods import Container
from policies.values import Path, Tree, Unknown, entries, mapping, read

_CONTINUED = re.compile(r"\\[ \t]*\n")
_FROM = re.compile(
    r"^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(?P<image>\S+)(?:[ \t]+AS[ \t]+(?P<stage>\S+))?[ \t]*$", re.I | re.M
)
_COPY = re.compile(r"^[ \t]*COPY[ \t]+(?:--\S+[ \t]+)*?--from=(?P<image>\S+)", re.I | re.M)
_EMPTY = "scratch"
_FLAG = re.compile(r"--?[\w-]*image(?:=(?P<image>.+))?$")
"""An argument that gives a controller the image of its pods, e.g. --kubectl-delivery-image."""

_BY_NODE: tuple[tuple[Kind, str], ...] = (
    (kinds.CLUSTER_POLICY, "driver"),
    (kinds.NIC_CLUSTER_POLICY, "ofedDriver"),
)
"""Fields whose image gets a suffix from the operator: the operating system of the nodes that it runs on."""


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


def named(manifests: Iterable[Mapping[str, Any]]) -> NamedImages:
    """Return the images that manifests name; values that are unknown until the update are left out."""
    found = [each for manifest in manifests for each in objects(manifest)]
    builds = [each for each in found if (each.group, each.kind) == (kinds.BUILD_CONFIG.group, kinds.BUILD_CONFIG.kind)]
    whole = {
        *(image for each in found for container in each.containers for image in _of_container(container)),
        *(image for each in builds for image in _of_build(each)),
        *(image for each in found for path, image in _operands(each.tree) if not _by_node(each, path)),
    }
    return NamedImages(
        whole=frozenset(filter(None, whole)),
        beginnings=frozenset(image for each in found for path, image in _operands(each.tree) if _by_node(each, path)),
        built=frozenset(filter(None, (_docker_image(each.read("spec", "output", "to")) for each in builds))),
        unread=frozenset(
            f"{each.text('metadata', 'namespace')}/{each.text('metadata', 'name')}"
            for each in builds
            if each.read("spec", "source", "dockerfile") is None
        ),
    )


def _of_container(container: Container) -> Iterator[str]:
    yield _text(container.read("image"))
    words = [_text(word) for field in ("command", "args") for word in entries(container.tree, field)]
    for word, following in pairwise([*words, ""]):
        if (flag := _FLAG.match(word)) is not None:
            yield flag["image"] or ("" if following.startswith("-") else following)


def _of_build(build: Obj) -> Iterator[str]:
    yield from of_containerfile(_text(build.read("spec", "source", "dockerfile")))
    for strategy in mapping(build.tree, "spec", "strategy").values():
        yield _docker_image(read(strategy, "from"))
    for source in entries(build.tree, "spec", "source", "images"):
        yield _docker_image(read(source, "from"))


def of_containerfile(text: str) -> Iterator[str]:
    """Yield the images that a Containerfile builds on and copies from, not its own stages."""
    joined = _CONTINUED.sub(" ", text)
    stages = {_EMPTY}
    for line in joined.splitlines():
        if (base := _FROM.match(line)) is not None:
            yield "" if base["image"].lower() in stages else base["image"]
            stages.add((base["stage"] or "").lower())
        elif (copied := _COPY.match(line)) is not None:
            image = copied["image"]
            yield "" if image.lower() in stages or image.isdecimal() else image


def _docker_image(reference: Tree) -> str:
    """Return the image of an object reference of OpenShift; empty for a tag of an image stream."""
    return _text(read(reference, "name")) if read(reference, "kind") == "DockerImage" else ""


def _operands(tree: Tree, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield images that are given in three parts, as NVIDIA's operators take them, each with its place."""
    if isinstance(tree, Mapping):
        parts = [_text(tree.get(key)) for key in ("repository", "image", "version")]
        if all(parts):
            repository, image, version = parts
            yield path, f"{repository}/{image}{'@' if ':' in version else ':'}{version}"
        for key, value in tree.items():
            yield from _operands(value, (*path, key))
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            yield from _operands(value, (*path, index))


def _by_node(subject: Obj, path: Path) -> bool:
    return any(
        (subject.group, subject.kind, path[-1:]) == (kind.group, kind.kind, (field,)) for kind, field in _BY_NODE
    )


def _text(value: Tree) -> str:
    return value if isinstance(value, str) and not isinstance(value, Unknown) else ""
