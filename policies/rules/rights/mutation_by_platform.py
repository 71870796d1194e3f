"""Pods are changed at admission by the platform alone."""

from collections.abc import Iterator

from core.apis.kinds import MUTATING_WEBHOOK_CONFIGURATION
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Rule
from policies.views.mutations import HARMLESS, LIMITS, MUTATING, PODS, changes, of_webhook
from policies.views.tenants import TENANTS, Tenancy, in_one_of


def _examine(subject: Obj, _: Inventory, parameters: Tenancy) -> Iterator[Violation]:
    if subject.kind != MUTATING_WEBHOOK_CONFIGURATION.kind:
        targets = [(place, target) for place, target in changes(subject) if target != HARMLESS]
        if targets and not parameters.excepts(subject):
            yield from (subject.violation(f"changes {target} at admission", *place) for place, target in targets)
        return
    for webhook in subject.parts("webhooks"):
        namespace = webhook.text("clientConfig", "service", "namespace")
        of_platform = bool(namespace) and in_one_of(namespace, parameters.exempt_namespaces)
        matched = {of_webhook(rule) for rule in webhook.parts("rules")}
        target = next((kind for kind in (PODS, LIMITS) if kind in matched), "")
        if target and not (of_platform or parameters.excepts(subject)):
            origin = f"in namespace {namespace}" if namespace else "outside the cluster"
            yield webhook.violation(f"lets a service {origin} change {target} at admission", "clientConfig")


MUTATION_BY_PLATFORM = Rule(
    name="mutation-by-platform",
    what="No mutating webhook changes pods, objects that create them, or what limits tenants (quotas, roles, bindings, "
    "SCCs, queues, networks), except those of the platform's own namespaces. No MutatingAdmissionPolicy, policy of "
    "Kyverno or mutator of Gatekeeper changes such limits, or pods in what gives devices, rights, another place or "
    "another order.",
    why="Mutation changes what the rules have checked: it can add a variable, a toleration, a device or another "
    "account to the pods of all tenants, and no manifest shows it. Only SCC admission runs again afterwards.",
    remedy=f"Delete it, or run its service in a namespace of the platform; {TENANTS}",
    source="P-5; kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers",
    severity=Severity.MANDATORY,
    parameters=Tenancy,
    examine=_examine,
    kinds=MUTATING,
)
