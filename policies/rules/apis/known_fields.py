"""Every field is one that the API knows at its place, with a value of its type."""

from collections.abc import Iterator

from core.apis.fields import root
from core.apis.kinds import CUSTOM_RESOURCE_DEFINITION
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Path, Unknown, brief, is_mapping
from policies.rule import ALL_KINDS, Parameters, Rule
from policies.views.builtin import unknown_kind
from policies.views.fields import Walk
from policies.views.placement import explain

_MOST = 20
_MEANT, _MISSPELT = "did you mean", "Correct the name of the field"
_ALIAS, _PRESENT = "serviceAccount", "serviceAccountName"
_OF_THE_SERVER = frozenset(
    {"creationTimestamp", "deletionTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"}
)


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    if fault := unknown_kind(subject.group, subject.version, subject.kind):
        yield subject.violation(fault.problem, fault.field).with_remedy(fault.remedy)
    walk = Walk(subject.tree, root(subject.group, subject.kind, subject.version), _MOST + 1)
    for misfit in walk.misfits[:_MOST]:
        message = explain(misfit)
        yield subject.violation(message, *misfit.path).with_remedy(
            misfit.remedy or (_MISSPELT if _MEANT in message else "")
        )
    if len(walk.misfits) > _MOST:
        yield subject.violation("further fields do not fit and are not listed")
    for path in walk.hidden:
        subject.depends_on(path)
    dump = _server_fields(subject)
    if dump is not None:
        yield dump
    for pod in subject.pods:
        alias = pod.tree.get(_ALIAS)
        if alias and (dump is None or alias != pod.tree.get(_PRESENT)):  # the API server fills in the alias, too
            yield pod.violation(f"{_ALIAS} is a deprecated alias of {_PRESENT}", _ALIAS).with_remedy(
                f"Write {_PRESENT}: {brief(alias)}" if isinstance(alias, str) else f"Write {_PRESENT}"
            )


def _server_fields(subject: Obj) -> Violation | None:
    """Return one violation for all that a dump of a live object has beside what was declared."""
    paths: list[Path] = []
    metadata = subject.tree.get("metadata")
    if is_mapping(metadata) and not _OF_THE_SERVER.isdisjoint(metadata):
        paths += [("metadata", key) for key in sorted(_OF_THE_SERVER) if metadata.get(key) is not None]
    status = subject.tree.get("status")
    declared = not subject.partial and subject.kind != CUSTOM_RESOURCE_DEFINITION.kind  # a policy compares states
    if declared and status is not None and not isinstance(status, Unknown):
        paths.append(("status",))
    if not paths:
        return None
    fields = [str(path[-1]) for path in paths]
    listed = ", ".join(fields)
    if fields[1:]:
        message = f"is a dump of a live object: {listed} are set by the API server"
    else:
        message = f"{listed} is set by {'controllers' if fields == ['status'] else 'the API server'}"
    return subject.violation(message, *paths[0]).with_remedy(
        f"Delete {listed}; a manifest does not declare what the server sets"
    )


KNOWN_FIELDS = Rule(
    name="known-fields",
    what="Every field, including apiVersion and kind, is where the API defines it and has a value that the API "
    "accepts. None is set by the server or is a deprecated alias.",
    why="The API server drops an unknown field silently, so it has no effect: capabilities beside securityContext, a "
    "command inside resources. With strict validation it refuses the object (strict decoding error: unknown field "
    '"spec.containers[0].runAsUser"). It always refuses an unknown kind or an invalid quantity (no matches for kind '
    '"Deploymnt" in version "apps/v1").',
    remedy="Move the field to where the API defines it, or delete it",
    source="E-14, E-15, E-21, E-24, E-25, E-40, E-54; github.com/NVIDIA/aicr/pull/50",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=ALL_KINDS,
)
