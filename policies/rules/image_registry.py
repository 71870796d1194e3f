"""An image comes from one of the known registries."""

from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache

from pydantic import Field

from policies.findings import Severity
from policies.objects import Obj
from policies.rule import Parameters, Remark, Rule
from policies.views.images import DOCKER_HUB, parse
from policies.world import World

_LONGEST_HOST = 253
_INTERNAL = "image-registry.openshift-image-registry.svc:5000"


class ImageRegistry(Parameters):
    """Where images may come from."""

    registries: tuple[str, ...] = Field(
        default=(
            "nvcr.io",
            "quay.io",
            "registry.redhat.io",
            "registry.access.redhat.com",
            "registry.k8s.io",
            "cp.icr.io",
            "icr.io",
            "ghcr.io/mellanox",
            f"{DOCKER_HUB}/mellanox",
            f"{DOCKER_HUB}/nvidia",
            f"{DOCKER_HUB}/mpioperator",
            f"{DOCKER_HUB}/horovod",
            _INTERNAL,
        ),
        description="registries, or parts of one (docker.io/mellanox); a name without a registry counts as docker.io's "
        "(default: those of the source documents' images, and the cluster's own; sources E-02, E-39, E-65)",
    )


def _examine(subject: Obj, _: World, parameters: ImageRegistry) -> Iterator[Remark]:
    for container in subject.containers:
        reference = container.text("image")
        if reference and (fault := _fault(reference, parameters.registries)):
            yield container.remark(fault, "image")


@lru_cache(maxsize=4096)
def _fault(reference: str, known: tuple[str, ...]) -> str:
    image = parse(reference)
    if image.fault:
        return ""  # what is no reference at all is the business of image-pinned
    if image.bare:
        return f"image {reference} names neither a registry nor an organisation"
    if any(image.home.startswith(f"{entry.rstrip('/')}/") for entry in known):
        return ""
    host = image.registry or DOCKER_HUB
    hosts = dict.fromkeys(entry.partition("/")[0] for entry in known)
    if host in hosts:
        return f"image {reference} is none of the known ones at {host} (it counts as {image.home})"
    close = get_close_matches(host, hosts, n=1) if len(host) <= _LONGEST_HOST else []
    return f"image {reference} comes from {host}{f': did you mean {close[0]}?' if close else ''}"


IMAGE_REGISTRY = Rule(
    name="image-registry",
    what="Every image comes from one of the known registries and says from which organisation.",
    why="A misspelt registry (nvcv.io for nvcr.io) fails only when a pod starts on a node: ErrImagePull, no such host. "
    "A short name is looked up in the node's own list of registries, so that two nodes may pull two images; "
    "a short name that was built and never pushed ends in ImagePullBackOff.",
    remedy="Write registry, organisation and name of a known registry, or add the registry to the parameter registries",
    source="E-02, E-39, P-11, platform-facts 4.3 rule 28",
    severity=Severity.MANDATORY,
    parameters=ImageRegistry,
    examine=_examine,
)
