"""A binding's roleRef and subjects have the fields that they need."""

from collections.abc import Iterator, Mapping

from core.apis.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, FORMER_RBAC, ROLE, ROLE_BINDING, SERVICE_ACCOUNT
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.values import brief
from policies.rule import Parameters, Rule
from policies.scc.rbac import GROUP, USER

_REFERENCE = ("apiGroup", "kind", "name")
_ROLES: Mapping[str, tuple[str, ...]] = {
    ROLE_BINDING.kind: (ROLE.kind, CLUSTER_ROLE.kind),
    CLUSTER_ROLE_BINDING.kind: (CLUSTER_ROLE.kind,),
}
_FORMER = f"Write apiVersion: {ROLE.api_version}, which OpenShift makes of it all the same"
_SUBJECTS = (SERVICE_ACCOUNT.kind, USER, GROUP)


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    if subject.group != ROLE.group:
        message = f"is of {subject.group}, whose roles and bindings no rule about rights reads"
        yield subject.violation(message, "apiVersion").with_remedy(_FORMER)
        return
    if not (subject.partial and "roleRef" not in subject.tree):
        yield from _reference(subject)
    for entry in subject.parts("subjects"):
        yield from _subject(entry)


def _reference(binding: Obj) -> Iterator[Violation]:
    place = "roleRef"
    reference = binding.mapping(place)
    if not reference:
        yield binding.violation(f"has no {place}", place)
        return
    for field in _REFERENCE:
        if not reference.get(field):
            yield binding.violation(f"has a {place} without {field}", place, field)
    for field in sorted(reference.keys() - _REFERENCE, key=brief):
        if reference[field] is not None:
            yield binding.violation(f"has {brief(field)} in its {place}, which has no such field", place, field)
    kind, group, kinds = reference.get("kind"), reference.get("apiGroup"), _ROLES[binding.kind]
    if kind and kind not in kinds:
        yield binding.violation(f"refers to the kind {brief(kind)}; known: {', '.join(kinds)}", place, "kind")
    if group and group != ROLE.group:
        yield binding.violation(f"refers to the API group {brief(group)}; roles are in {ROLE.group}", place, "apiGroup")


def _subject(entry: Part) -> Iterator[Violation]:
    kind, group = entry.read("kind"), entry.read("apiGroup")
    if not entry.read("name"):
        yield entry.violation("has a subject without name", "name")
    if kind not in _SUBJECTS:
        wrong = f"of the kind {brief(kind)}" if kind else "without kind"
        yield entry.violation(f"has a subject {wrong}; known: {', '.join(_SUBJECTS)}", "kind")
    elif kind == SERVICE_ACCOUNT.kind:
        if group:
            yield entry.violation(f"has a {kind} with the API group {brief(group)}, which is empty for it", "apiGroup")
        if not entry.read("namespace"):
            yield entry.violation(f"has a {kind} without namespace", "namespace")
    elif group != ROLE.group:
        wrong = f"with the API group {brief(group)}" if group else "without apiGroup"
        yield entry.violation(f"has a {kind} {wrong}; it is {ROLE.group}", "apiGroup")


RBAC_WELL_FORMED = Rule(
    name="rbac-well-formed",
    what=f"A role or binding is of {ROLE.group}. A binding's roleRef has apiGroup, kind and name and nothing else. Its "
    "subjects have kind and name; a ServiceAccount also has a namespace, a User or Group an apiGroup.",
    why="OpenShift still takes roles and bindings of authorization.openshift.io, and writes today's of them, past all "
    "rules about rights. A field of that API, or a namespace in roleRef, is dropped or refused (strict decoding error: "
    'unknown field "roleRef.namespace"). A subject without a namespace binds no one: the job fails with `Forbidden: '
    "not usable by user or serviceaccount`.",
    remedy="Write roleRef: {apiGroup, kind, name} and subjects: [{kind: ServiceAccount, name, namespace}]",
    source="E-14, R-3.4.3-5, platform-facts 4.3",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(ROLE_BINDING, CLUSTER_ROLE_BINDING, *FORMER_RBAC),
)
