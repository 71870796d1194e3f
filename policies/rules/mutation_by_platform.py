"""Pods are changed at admission by the platform alone."""

from collections.abc import Iterator

from apis.kinds import MUTATING_ADMISSION_POLICY, MUTATING_WEBHOOK_CONFIGURATION
from policies.findings import Severity
from policies.inventory import Inventory
from policies.objects import Obj
from policies.part import Part
from policies.rule import Rule
from policies.views.tenants import TENANTS, Tenancy, in_one_of
from policies.violation import Violation

_POD_KINDS = frozenset(
    {"*", "*/*", "pods", "pods/*", "pods/ephemeralcontainers", "deployments", "statefulsets", "daemonsets", "jobs"}
    | {"cronjobs", "replicasets", "mpijobs", "jobsets", "trainjobs", "trainingruntimes", "leaderworkersets"}
    | {"clustertrainingruntimes"}
)


def _examine(subject: Obj, _: Inventory, parameters: Tenancy) -> Iterator[Violation]:
    if subject.kind == MUTATING_ADMISSION_POLICY.kind:
        place = ("spec", "matchConstraints", "resourceRules")
        if any(_pods(rule) for rule in subject.parts(*place)) and not parameters.excepts(subject):
            yield subject.violation("changes pods at admission", *place)
        return
    for webhook in subject.parts("webhooks"):
        namespace = webhook.text("clientConfig", "service", "namespace")
        known = bool(namespace) and in_one_of(namespace, parameters.exempt_namespaces)
        if any(_pods(rule) for rule in webhook.parts("rules")) and not (known or parameters.excepts(subject)):
            where = f"in namespace {namespace}" if namespace else "outside the cluster"
            yield webhook.violation(f"lets a service {where} change pods at admission", "clientConfig")


def _pods(rule: Part) -> bool:
    return any(isinstance(name, str) and name in _POD_KINDS for name in rule.entries("resources"))


MUTATION_BY_PLATFORM = Rule(
    name="mutation-by-platform",
    what="No mutating webhook or MutatingAdmissionPolicy changes pods, or objects that create them, except those of "
    "the platform's own namespaces.",
    why="Mutation changes what the rules have checked: it can add a variable, a toleration, a device or another "
    "account to the pods of all tenants, and no manifest shows it. Only SCC admission runs again afterwards.",
    remedy=f"Delete it, or run its service in a namespace of the platform; {TENANTS}",
    source="P-5; kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers",
    severity=Severity.MANDATORY,
    parameters=Tenancy,
    examine=_examine,
    kinds=(MUTATING_WEBHOOK_CONFIGURATION, MUTATING_ADMISSION_POLICY),
)
