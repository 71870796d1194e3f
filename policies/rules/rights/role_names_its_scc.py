"""A role that lets its subjects use an SCC grants nothing else on SCCs, and names the SCC."""

from collections.abc import Iterator

from core.apis.kinds import CLUSTER_ROLE, ROLE, SECURITY_CONTEXT_CONSTRAINTS
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.rule import Parameters, Rule
from policies.scc.rbac import EVERY, USE

_FIELDS = (("apiGroups", SECURITY_CONTEXT_CONSTRAINTS.group), ("resources", SECURITY_CONTEXT_CONSTRAINTS.plural))
_NARROW = "Name the API groups, resources and verbs that are needed, and SCCs in a rule of their own with use alone"
_READING = frozenset({"get", "list", "watch"})


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
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
    parameters=Parameters,
    examine=_examine,
    kinds=(ROLE, CLUSTER_ROLE),
)
