"""No account of a tenant may give itself rights, or change what limits it."""

from collections.abc import Iterator, Mapping

from apis.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING
from policies.findings import Severity
from policies.inventory import Inventory
from policies.objects import Obj
from policies.rbac import GROUP, granted, subjects
from policies.rule import Rule
from policies.values import read
from policies.views.constraints import WIDE_GROUPS
from policies.views.rights import SHIPPED, excessive
from policies.views.tenants import TENANTS, Tenancy, in_one_of, is_tenants
from policies.violation import Violation

_AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-"
_LEVELS = ("admin", "edit", "view", "cluster-reader")


def _examine(subject: Obj, inventory: Inventory, parameters: Tenancy) -> Iterator[Violation]:
    if subject.kind == CLUSTER_ROLE.kind:
        yield from _aggregated(subject)
        return
    rights = list(dict.fromkeys(_rights(subject, inventory)))
    if not rights or parameters.excepts(subject):
        return
    given = "; ".join(rights)[:300]
    for found in subjects(subject.tree, subject.namespace):
        wide = found.kind == GROUP and in_one_of(found.name, WIDE_GROUPS)
        if wide or is_tenants(found, parameters.exempt_namespaces):
            yield subject.violation(f"lets {found} {given}", "subjects", found.index)


def _rights(binding: Obj, inventory: Inventory) -> Iterator[str]:
    """Yield what the role of a binding lets one do, with what it aggregates."""
    kind, name = binding.text("roleRef", "kind"), binding.text("roleRef", "name")
    found = inventory.get(ROLE, name, binding.namespace) if kind == ROLE.kind else inventory.get(CLUSTER_ROLE, name)
    if found is None:
        yield from [SHIPPED[name]] if kind == CLUSTER_ROLE.kind and name in SHIPPED else []
        return
    for role in (found, *_selected(found, inventory)):
        yield from (what for _, what in excessive(role.tree))


def _selected(role: Obj, inventory: Inventory) -> Iterator[Obj]:
    selectors = role.entries("aggregationRule", "clusterRoleSelectors")
    wanted = [labels for each in selectors if isinstance(labels := read(each, "matchLabels"), Mapping) and labels]
    for other in inventory.of(CLUSTER_ROLE) if wanted else ():
        own = other.mapping("metadata", "labels")
        if any(labels.items() <= own.items() for labels in wanted):
            yield other


def _aggregated(role: Obj) -> Iterator[Violation]:
    labels = role.mapping("metadata", "labels")
    level = next((each for each in _LEVELS if labels.get(f"{_AGGREGATE}{each}") in ("true", True)), "")
    if not level:
        return
    sccs = granted(role.tree)
    if sccs is None or sccs:
        which = ", ".join(sorted(sccs))[:200] if sccs else "every SCC"
        message = f"adds the use of {which} to the role {level} of every namespace"
        yield role.violation(message, "metadata", "labels", f"{_AGGREGATE}{level}")
    for index, what in excessive(role.tree):
        yield role.violation(f"adds to the role {level} of every namespace the right to {what}", "rules", index)


RBAC_NO_ESCALATION = Rule(
    name="rbac-no-escalation",
    what="No binding lets an account of a tenant escalate, bind or impersonate, change quotas, limits, queues, SCCs, "
    "webhooks or objects that give devices, bind pods to nodes, reach kubelets, or do everything. No ClusterRole adds "
    "such a right, or the use of an SCC, to admin, edit or view.",
    why="Every pod of the account has the right, and can use it to get IPC_LOCK, GPUs and RDMA past every rule here: "
    "what a pod does at run time is in no manifest. The label aggregate-to-edit gives it to every tenant at once.",
    remedy=f"Delete the rule, or bind the role to an account of the platform; {TENANTS}",
    source="P-5, E-13; kubernetes.io/docs/concepts/security/rbac-good-practices",
    severity=Severity.MANDATORY,
    parameters=Tenancy,
    examine=_examine,
    kinds=(ROLE_BINDING, CLUSTER_ROLE_BINDING, CLUSTER_ROLE),
    links=True,
)
