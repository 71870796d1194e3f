"""Every field stands where the API knows it and holds what the API takes."""

from collections.abc import Iterator, Mapping

from apis.fields import root
from apis.kinds import CUSTOM_RESOURCE_DEFINITION, KINDS
from policies.findings import Severity
from policies.objects import Obj
from policies.rule import Parameters, Remark, Rule
from policies.values import Unknown
from policies.views.fields import Walk
from policies.views.placement import explain
from policies.world import World

_MOST = 20
_ALIAS = "serviceAccount"
_OF_THE_SERVER = frozenset(
    {"creationTimestamp", "deletionTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"}
)


def _examine(subject: Obj, _: World, __: Parameters) -> Iterator[Remark]:
    walk = Walk(subject.tree, root(subject.group, subject.kind), _MOST + 1)
    for misfit in walk.misfits[:_MOST]:
        yield subject.remark(explain(misfit), *misfit.path)
    if len(walk.misfits) > _MOST:
        yield subject.remark("more fields of it do not fit, which are not listed")
    for path in walk.hidden:
        subject.touch(path)
    yield from _of_the_server(subject)
    for pod in subject.pods:
        if pod.tree.get(_ALIAS):
            yield pod.remark(f"{_ALIAS} is a deprecated alias of serviceAccountName", _ALIAS)


def _of_the_server(subject: Obj) -> Iterator[Remark]:
    metadata = subject.tree.get("metadata")
    if isinstance(metadata, Mapping) and not _OF_THE_SERVER.isdisjoint(metadata):
        for key in sorted(_OF_THE_SERVER.intersection(metadata)):
            if metadata[key] is not None:
                yield subject.remark(f"{key} is set by the API server", "metadata", key)
    status = subject.tree.get("status")
    if status is not None and not isinstance(status, Unknown) and subject.kind != CUSTOM_RESOURCE_DEFINITION.kind:
        yield subject.remark("status is set by controllers and not by those who declare the object", "status")


KNOWN_FIELDS = Rule(
    name="known-fields",
    what="Every field stands where the API knows it and holds what the API takes; none is one of the server's own or "
    "a deprecated alias.",
    why="The API server drops a field that it does not know without a word, and what it should have done is missing: "
    "capabilities beside securityContext, a command inside resources. With strict validation it refuses the object "
    '(strict decoding error: unknown field "spec.containers[0].runAsUser").',
    remedy="Move the field to where the API has it, or delete it",
    source="E-14, E-15, E-21, E-24, E-25, E-40, E-54",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=KINDS,
)
