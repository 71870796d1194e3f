"""Rules for images."""

from collections.abc import Iterator
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import lru_cache

from pydantic import Field

from core.apis.kinds import CATALOG_SOURCE
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import ALL_KINDS, Parameters, Rule, Severity
from policies.views.images import DOCKER_HUB, has_image_stream, images, parse

_FOLLOWS = (CATALOG_SOURCE.group, CATALOG_SOURCE.kind)
"""A catalogue follows its tag on purpose: OLM pulls it again, and subscriptions name the versions."""


class ImagePinned(Parameters):
    """What counts as pinned."""

    moving_tags: tuple[str, ...] = Field(
        default=("latest", "latest-*", "*-latest", "main", "master", "nightly", "edge", "stable", "stable-*"),
        description="patterns of tags that their owners move; * matches any",
    )
    digest_only: bool = Field(default=False, description="whether a tag without a digest is refused, too")


def _image_pinned(subject: Obj, _: Inventory, parameters: ImagePinned) -> Iterator[Violation]:
    for container in subject.containers:
        reference = container.text("image")
        if not reference.strip() and has_image_stream(subject):
            continue
        if reference and (fault := _unpinned(reference, parameters.moving_tags, parameters.digest_only)):
            yield container.violation(fault, "image")
    if (subject.group, subject.kind) == _FOLLOWS:
        return
    for image in images(subject):
        if image.late:
            yield subject.unverified(image.late, *image.path)
        elif fault := _unpinned(image.reference, parameters.moving_tags, parameters.digest_only):
            yield subject.violation(fault, *image.path)


@lru_cache(maxsize=4096)
def _unpinned(reference: str, moving: tuple[str, ...], digest_only: bool) -> str:
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
    examine=_image_pinned,
    kinds=ALL_KINDS,
)


_LONGEST = 253
_LOOKALIKE = 0.9
_LIKE_HOST = 0.8
"""nvcv.io is like nvcr.io; quay.example.com, a registry of one's own, is not like quay.io."""
_INTERNAL = ("image-registry.openshift-image-registry.svc:5000", "docker-registry.default.svc:5000")
"""A cluster's own registry: today's, and that of OpenShift 3.11."""
_SAY_WHICH = f"Write registry, organisation and name, e.g. {DOCKER_HUB}/<organisation>/<name>:<tag>"


class ImageRegistry(Parameters):
    """Where images may come from."""

    registries: tuple[str, ...] = Field(
        default=(
            *("nvcr.io", "quay.io", "registry.redhat.io", "registry.access.redhat.com", "cp.icr.io", "icr.io"),
            *("registry.k8s.io", "gcr.io", "ghcr.io", "ghcr.io/mellanox", "mcr.microsoft.com", "public.ecr.aws"),
            *(DOCKER_HUB, *(f"{DOCKER_HUB}/{name}" for name in ("mellanox", "nvidia", "mpioperator", "horovod"))),
            *_INTERNAL,
        ),
        description="registries, or parts of one (docker.io/mellanox); a name that looks like one of these parts is "
        "taken for a misspelt one, and a name without a registry counts as docker.io's. A list here replaces this one, "
        "e.g. with your mirror alone (default: those of the source documents' images, the well-known public ones, "
        "and the cluster's own)",
    )
    more: tuple[str, ...] = Field(
        default=(), description="registries, or parts of one, in addition to those in registries"
    )


def _image_registry(subject: Obj, _: Inventory, parameters: ImageRegistry) -> Iterator[Violation]:
    for container in subject.containers:
        reference = container.text("image")
        if reference and (fault := _foreign(reference, parameters.registries, parameters.more)) is not None:
            message, remedy = fault
            yield container.violation(f"image {reference} {message}", "image").with_remedy(remedy)
    for image in images(subject):
        if image.late:
            yield subject.unverified(image.late, *image.path)
        elif (fault := _foreign(image.reference, parameters.registries, parameters.more)) is not None:
            message, remedy = fault
            yield subject.violation(f"image {image.reference} {message}", *image.path).with_remedy(remedy)


@lru_cache(maxsize=4096)
def _foreign(reference: str, registries: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, str] | None:
    image = parse(reference)
    if image.fault:
        return None  # image-pinned reports what is not a reference at all
    if image.bare:
        return "names neither a registry nor an organisation", _SAY_WHICH
    accepted = tuple(dict.fromkeys(entry.rstrip("/") for entry in (*registries, *more)))
    host = image.home.partition("/")[0]
    hosts = {entry.partition("/")[0] for entry in accepted}
    return _at_host(image.home, host, accepted) if host in hosts else _another_host(host, hosts)


def _another_host(host: str, hosts: set[str]) -> tuple[str, str]:
    close = get_close_matches(host, hosts, n=1, cutoff=_LIKE_HOST) if len(host) <= _LONGEST else []
    hint = f": did you mean {close[0]}?" if close else ""
    return f"comes from {host}{hint}", _or_add(close[0] if close else "a known registry", host)


def _at_host(home: str, host: str, accepted: tuple[str, ...]) -> tuple[str, str] | None:
    matching = [entry for entry in accepted if home.startswith(f"{entry}/")]
    if any("/" in entry for entry in matching):
        return None
    organisation = home.split("/")[1]
    organisations = [parts[1] for entry in accepted if (parts := entry.split("/"))[0] == host and len(parts) > 1]
    close = (
        get_close_matches(organisation, organisations, n=1, cutoff=_LOOKALIKE) if len(organisation) <= _LONGEST else []
    )
    if close:
        suggestion = f"{host}/{close[0]}"
        return f"counts as {home}: did you mean {suggestion}?", _or_add(suggestion, f"{host}/{organisation}")
    if matching:
        return None
    message = f"is none of the known ones at {host} (it counts as {home})"
    return message, _or_add("a known one", f"{host}/{organisation}")


def _or_add(suggestion: str, reference: str) -> str:
    return (
        f"Write {suggestion}, or add {reference[:_LONGEST]} to the parameter `more` of image-registry, in `policies` "
        "of the stack's settings (docs/reference/policies/README.md), if it is the right one"
    )


IMAGE_REGISTRY = Rule(
    name="image-registry",
    what="Every image, of containers, builds, catalogues and operators' custom resources, comes from one of the known "
    "registries and names its organisation.",
    why="A misspelt registry (nvcv.io for nvcr.io) fails only when a pod starts on a node: ErrImagePull, no such host. "
    "A short name is looked up in the node's own list of registries, so two nodes may pull different images; one that "
    "was built and never pushed ends in ImagePullBackOff.",
    remedy="Write a known registry, the organisation and the name, or add the registry to the parameter `more`",
    source="E-02, E-39, P-11, platform-facts 4.3 rule 28",
    severity=Severity.MANDATORY,
    parameters=ImageRegistry,
    examine=_image_registry,
    kinds=ALL_KINDS,
)
