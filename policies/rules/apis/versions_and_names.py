"""The API's versions that a release serves, and the names that it takes."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from pydantic import Field

from core.apis.builtin import LIVES, Life, Release
from core.apis.kinds import (
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CRON_JOB,
    JOB,
    KINDS,
    NAMESPACE,
    ROLE,
    ROLE_BINDING,
    Kind,
)
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.pods import Pod
from policies.manifests.values import Tree, brief, is_mapping
from policies.rule import Parameters, Rule, Severity
from policies.views import grammars

_NEWEST: Release = (1, 999)
_BY_KIND: dict[tuple[str, str, str], Life] = {
    (life.group, life.version, kind): life for life in LIVES for kind in life.kinds
}


class ApiServed(Parameters):
    """The cluster's release."""

    kubernetes: str = Field(
        default="",
        pattern=r"^([0-9]{1,2}\.[0-9]{1,3}(\.[0-9]+)?)?$",
        description='Kubernetes release of the cluster, e.g. "1.17" for OpenShift 4.4; empty means the newest',
    )

    @property
    def release(self) -> Release:
        """The release as numbers."""
        parts = self.kubernetes.split(".")
        return (int(parts[0]), int(parts[1])) if self.kubernetes else _NEWEST


def _api_served(subject: Obj, _: Inventory, parameters: ApiServed) -> Iterator[Violation]:
    life = _BY_KIND.get((subject.group, subject.version, subject.kind))
    if life is None:
        return
    release = parameters.release
    api = f"{subject.api_version} {subject.kind}"
    if life.removed is not None and release >= life.removed:
        yield subject.violation(
            f"{api} is not served from {_release_text(life.removed)} on; use {life.instead}", "apiVersion"
        )
    elif life.since is not None and release < life.since:
        message = (
            f"{api} is not served before {_release_text(life.since)}; use {life.instead} in {parameters.kubernetes}"
        )
        yield subject.violation(message, "apiVersion")


def _release_text(release: Release) -> str:
    return f"Kubernetes {release[0]}.{release[1]}"


API_SERVED = Rule(
    name="api-served",
    what="An object's apiVersion is served by the cluster's Kubernetes release and its operators.",
    why='The apply stops halfway with `no matches for kind "DaemonSet" in version "extensions/v1beta1"`; the objects '
    "applied before it remain.",
    remedy="Use the version that the finding names, whose fields may differ, or set the parameter kubernetes to the "
    "cluster's release",
    source="E-20, E-42",
    severity=Severity.ADVISORY,
    parameters=ApiServed,
    examine=_api_served,
    kinds=tuple(Kind(group, "", kind, "") for group, kind in sorted({(group, kind) for group, _, kind in _BY_KIND})),
)


_MOST = 20
_LABEL = f"lowercase letters, digits and -, at most {grammars.LABEL_LENGTH}, with a letter or digit at both ends"
_SUBDOMAIN = "lowercase letters, digits, - and ., with a letter or digit at both ends of each part"
_PORT = f"lowercase letters, digits and single -, at most {grammars.PORT_LENGTH}, with a letter among them"
_VALUE = f"letters, digits, -, _ and ., at most {grammars.LABEL_LENGTH}, with a letter or digit at both ends"
_KEY = f"an optional DNS prefix with /, then {_VALUE}"

_Grammar = tuple[Callable[[str], bool], str]
_OF_KIND: Mapping[str, _Grammar] = {
    NAMESPACE.kind: (grammars.is_label, _LABEL),
    **dict.fromkeys(
        (kind.kind for kind in (ROLE, ROLE_BINDING, CLUSTER_ROLE, CLUSTER_ROLE_BINDING)),
        (grammars.is_segment, "anything without / and %"),
    ),
}
_MOST_OBJECTS: _Grammar = (grammars.is_subdomain, _SUBDOMAIN)
# Their pods carry the name as a label; a CronJob's jobs have eleven characters more.
_LENGTHS = {JOB.kind: grammars.LABEL_LENGTH, CRON_JOB.kind: grammars.LABEL_LENGTH - 11}


def _valid_names(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    return islice(_names(subject), _MOST)


def _names(subject: Obj) -> Iterator[Violation]:
    if not subject.partial:  # a patch names an object that is there
        yield from _object(subject)
    yield from _labels(subject, "metadata")
    for pod in subject.pods:
        if pod.metadata.path != ("metadata",):
            yield from _labels(pod.metadata)
        yield from _containers(pod)
        yield from _named(pod, "volumes", "volume", grammars.is_label, _LABEL)


def _object(subject: Obj) -> Iterator[Violation]:
    name, namespace = subject.text("metadata", "name"), subject.text("metadata", "namespace")
    # The engine gives an object without a name one of its own, which the pack shows in parentheses.
    if name and not name.startswith("("):
        is_valid, grammar = _OF_KIND.get(subject.kind, _MOST_OBJECTS)
        if not is_valid(name):
            yield _misnamed(subject, f"the name {brief(name)}", grammar, "metadata", "name")
        elif len(name) > (most := _LENGTHS.get(subject.kind, len(name))):
            message = f"the name {name} has {len(name)} characters, and {most} fit"
            yield subject.violation(message, "metadata", "name").with_remedy(f"Shorten the name to {most} characters")
    if namespace and not grammars.is_label(namespace):
        yield _misnamed(subject, f"the namespace {brief(namespace)}", _LABEL, "metadata", "namespace")


def _misnamed(part: Part, subject: str, grammar: str, *keys: str | int) -> Violation:
    return part.violation(f"{subject} is not {grammar}", *keys).with_remedy(f"Write {grammar}")


def _labels(part: Part, *keys: str) -> Iterator[Violation]:
    for key, value in part.mapping(*keys, "labels").items():
        if not grammars.is_qualified(str(key)):
            yield _misnamed(part, f"the label {brief(str(key))}", _KEY, *keys, "labels", str(key))
        elif isinstance(value, str) and not grammars.is_label_value(value):
            yield _misnamed(part, f"the value {brief(value)} of label {key}", _VALUE, *keys, "labels", str(key))
    for key in part.mapping(*keys, "annotations"):
        if not grammars.is_qualified(str(key).lower()):
            yield _misnamed(part, f"the annotation {brief(str(key))}", _KEY, *keys, "annotations", str(key))


def _containers(pod: Pod) -> Iterator[Violation]:
    seen: set[str] = set()
    for container in pod.containers:
        name = container.text("name")
        if not grammars.is_label(name):
            yield _misnamed(container, f"the name {brief(name)} of a container", _LABEL, "name")
        elif name in seen:
            yield container.violation(f"another container of the pod is called {name}, too", "name")
        seen.add(name)
        if "ports" in container.tree or container.object.unknown:
            yield from _named(container, "ports", "port", grammars.is_port, _PORT, optional=True)


def _named(
    part: Part, key: str, noun: str, is_valid: Callable[[str], bool], grammar: str, *, optional: bool = False
) -> Iterator[Violation]:
    seen: set[str] = set()
    for index, entry in enumerate(part.entries(key)):
        name: Tree = entry.get("name") if is_mapping(entry) else None
        if not isinstance(name, str) or (optional and not name):
            continue
        if not is_valid(name):
            yield _misnamed(part, f"the name {brief(name)} of a {noun}", grammar, key, index, "name")
        elif name in seen:
            yield part.violation(f"another {noun} is called {name}, too", key, index, "name")
        seen.add(name)


VALID_NAMES = Rule(
    name="valid-names",
    what="Names of objects, namespaces, containers, ports, volumes and labels follow the naming rules of Kubernetes, "
    "and those within a pod are unique.",
    why="The API server refuses the object only when it is created (a lowercase RFC 1123 subdomain must consist of "
    "lower case alphanumeric characters). The pod template of an MPIJob is not checked until the operator creates pods "
    "from it: the job exists, but no worker ever appears.",
    remedy="Use a name that the API accepts there and that nothing else in the pod has",
    source="E-15, E-52",
    severity=Severity.MANDATORY,
    examine=_valid_names,
    kinds=KINDS,
)
