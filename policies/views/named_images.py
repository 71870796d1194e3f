"""All images that manifests name: of containers, of builds, and of operators' custom resources.

What no manifest names is not here: images of OpenShift itself, and those that operators from a catalogue bring along.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from core.apis import kinds
from policies.manifests.objects import objects
from policies.manifests.pods import Container
from policies.manifests.values import Tree, Unknown, entries
from policies.views.images import images

_FLAG = re.compile(r"--?[\w-]*image(?:=(?P<image>.+))?$")
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
    yield _text(container.read("image"))
    words = [_text(word) for field in ("command", "args") for word in entries(container.tree, field)]
    for word, following in pairwise([*words, ""]):
        if (flag := _FLAG.match(word)) is not None:
            yield flag["image"] or ("" if following.startswith("-") else following)


def _text(value: Tree) -> str:
    return value if isinstance(value, str) and not isinstance(value, Unknown) else ""
