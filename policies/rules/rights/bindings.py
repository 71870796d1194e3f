"""The form of roles and bindings, and what they name."""

from collections.abc import Iterator, Mapping

from core.apis.kinds import (
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    FORMER_RBAC,
    ROLE,
    ROLE_BINDING,
    SECURITY_CONTEXT_CONSTRAINTS,
    SERVICE_ACCOUNT,
)
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.values import brief
from policies.rule import Parameters, Rule, Severity
from policies.scc.rbac import EVERY, GROUP, USE, USER
from policies.scc.shipped import ships
from policies.views.accounts import built_in_namespace, exists


def _binding_ends_exist(subject: Obj, inventory: Inventory, _: Parameters) -> Iterator[Violation]:
    namespace = subject.text("metadata", "namespace")
    kind, name = subject.text("roleRef", "kind"), subject.text("roleRef", "name")
    if kind == CLUSTER_ROLE.kind:
        is_declared = ships(name) or inventory.get(CLUSTER_ROLE, name) is not None
    else:
        is_declared = (
            kind != ROLE.kind or built_in_namespace(namespace) or inventory.get(ROLE, name, namespace) is not None
        )
    if name and not is_declared:
        scope = f" in {namespace}" if kind == ROLE.kind else ""
        yield subject.unlinked(f"grants the {kind} {name}{scope}, which is not among the objects", "roleRef", "name")
    for entry in subject.parts("subjects"):
        if entry.text("kind") != SERVICE_ACCOUNT.kind:
            continue
        account, home = entry.text("name"), entry.text("namespace")
        if account and home and not built_in_namespace(home) and not exists(inventory, home, account):
            yield entry.unlinked(f"is for the ServiceAccount {home}/{account}, which is not among the objects", "name")


BINDING_ENDS_EXIST = Rule(
    name="binding-ends-exist",
    what="The role and the service accounts that a binding names exist.",
    why="The API server accepts a binding to a role or account that does not exist, but it grants nothing: the job "
    "fails with `Forbidden: not usable by user or serviceaccount`. An account created later under that name gets the "
    "right.",
    remedy="Correct the name and the namespace, or add the missing object",
    source="R-3.4.3-5, R-3.4.3-7",
    severity=Severity.MANDATORY,
    examine=_binding_ends_exist,
    kinds=(ROLE_BINDING, CLUSTER_ROLE_BINDING),
    links=True,
)


_REFERENCE = ("apiGroup", "kind", "name")
_ROLES: Mapping[str, tuple[str, ...]] = {
    ROLE_BINDING.kind: (ROLE.kind, CLUSTER_ROLE.kind),
    CLUSTER_ROLE_BINDING.kind: (CLUSTER_ROLE.kind,),
}
_FORMER = f"Write apiVersion: {ROLE.api_version}, which OpenShift makes of it all the same"
_SUBJECTS = (SERVICE_ACCOUNT.kind, USER, GROUP)


def _rbac_well_formed(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
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
    examine=_rbac_well_formed,
    kinds=(ROLE_BINDING, CLUSTER_ROLE_BINDING, *FORMER_RBAC),
)


_FIELDS = (("apiGroups", SECURITY_CONTEXT_CONSTRAINTS.group), ("resources", SECURITY_CONTEXT_CONSTRAINTS.plural))
_NARROW = "Name the API groups, resources and verbs that are needed, and SCCs in a rule of their own with use alone"
_READING = frozenset({"get", "list", "watch"})


def _role_names_its_scc(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for rule in subject.parts("rules"):
        if all(value in (values := rule.entries(field)) or EVERY in values for field, value in _FIELDS):
            yield from _rule(rule)


def _rule(rule: Part) -> Iterator[Violation]:
    verbs = [verb for verb in rule.entries("verbs") if isinstance(verb, str)]
    if _READING.issuperset(verbs):
        return
    if EVERY in verbs and all(EVERY in rule.entries(field) for field, _ in _FIELDS):
        # One violation for a rule that allows everything, instead of four about SCCs.
        message = "lets its subjects do everything with everything, and so use any SCC, privileged too"
        yield rule.violation(message).with_remedy(_NARROW)
        return
    for field, _ in _FIELDS:
        if EVERY in rule.entries(field):
            yield rule.violation(f"lets its subjects {_list(verbs)} SCCs through a wildcard in {field}", field)
    others = [verb for verb in verbs if verb != USE]
    if others:
        yield rule.violation(f"lets its subjects {_list(others)} SCCs, not only {USE} one", "verbs")
    names = rule.entries("resourceNames")
    if not names and not rule.hidden("resourceNames"):
        yield rule.violation("names no SCC, and so grants all of them, privileged too", "resourceNames")
    elif EVERY in names:
        yield rule.violation("names the SCC *, which grants nothing: a resource name is not a pattern", "resourceNames")


def _list(verbs: list[str]) -> str:
    return "do everything with" if EVERY in verbs else ", ".join(verbs)[:100]


ROLE_NAMES_ITS_SCC = Rule(
    name="role-names-its-scc",
    what="A Role or ClusterRole for securitycontextconstraints has only the verb use, names the SCCs in resourceNames, "
    "and has no wildcard that includes them. Reading them is always allowed.",
    why="Without resourceNames, or through a wildcard, the account may use `privileged` and is root on every node. "
    "With create, update or patch it can write its own SCC.",
    remedy="Write apiGroups: [security.openshift.io], resources: [securitycontextconstraints], verbs: [use] and the "
    "SCC's name in resourceNames, in a rule of its own",
    source="R-3.4.3-4, E-13, platform-facts 4.3",
    severity=Severity.MANDATORY,
    examine=_role_names_its_scc,
    kinds=(ROLE, CLUSTER_ROLE),
)
