"""No account of a tenant may give itself rights, or change what limits it."""

from collections.abc import Iterator

from core.apis.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import is_empty, selects
from policies.rule import Rule, Severity
from policies.scc.rbac import GROUP, granted, subjects
from policies.scc.shipped import OWN_ROLE
from policies.views.constraints import WIDE_GROUPS
from policies.views.rights import EVERYONES, excessive_rights, rights_inside, shipped_rights, shipped_rights_inside
from policies.views.tenants import TENANTS, Infrastructure, Tenancy, in_one_of, is_tenants

_AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-"
_LEVELS = ("admin", "edit", "view", "cluster-reader")


def _examine(subject: Obj, inventory: Inventory, parameters: Tenancy) -> Iterator[Violation]:
    if subject.kind == CLUSTER_ROLE.kind:
        yield from _role_grants(subject)
        return
    if Infrastructure.excepts(parameters, subject):  # by name: what is bound in an infrastructure's namespace counts
        return
    rights = list(dict.fromkeys(_rights(subject, inventory, parameters)))
    listed = "; ".join(rights)[:300]
    for grantee in subjects(subject.tree, subject.namespace) if rights else ():
        wide = grantee.kind == GROUP and in_one_of(grantee.name, WIDE_GROUPS)
        if wide or is_tenants(grantee, parameters.exempt_namespaces):
            yield subject.violation(f"lets {grantee} {listed}", "subjects", grantee.index)


def _rights(binding: Obj, inventory: Inventory, parameters: Tenancy) -> Iterator[str]:
    kind, name = binding.text("roleRef", "kind"), binding.text("roleRef", "name")
    everywhere = binding.kind == CLUSTER_ROLE_BINDING.kind
    within = everywhere or in_one_of(binding.namespace, parameters.exempt_namespaces)
    scope = "in every namespace" if everywhere else f"in {binding.namespace}, a namespace of the infrastructure"
    granted_role = (
        inventory.get(ROLE, name, binding.namespace) if kind == ROLE.kind else inventory.get(CLUSTER_ROLE, name)
    )
    if granted_role is None:
        if kind == CLUSTER_ROLE.kind and (rights := shipped_rights(name)):
            yield rights
        elif kind == CLUSTER_ROLE.kind and within and (rights := shipped_rights_inside(name)):
            yield f"{rights} {scope}"
        return
    roles = (granted_role, *_aggregated(granted_role, inventory))
    yield from (right for role in roles for _, right in excessive_rights(role.tree, everywhere=everywhere))
    others = [right for role in roles for _, right in rights_inside(role.tree, everywhere=everywhere)] if within else []
    if others:
        yield f"{', '.join(dict.fromkeys(others))} {scope}"
    if any(map(is_empty, granted_role.entries("aggregationRule", "clusterRoleSelectors"))):
        yield "do what every ClusterRole allows"


def _aggregated(role: Obj, inventory: Inventory) -> Iterator[Obj]:
    selectors = [
        selector for selector in role.entries("aggregationRule", "clusterRoleSelectors") if not is_empty(selector)
    ]
    for other in inventory.of(CLUSTER_ROLE) if selectors else ():
        labels = other.mapping("metadata", "labels")
        if any(selects(selector, labels) for selector in selectors):
            yield other


def _role_grants(role: Obj) -> Iterator[Violation]:
    """Yield what a ClusterRole gives every tenant, by its name or by a label that adds it to another."""
    if role.name.startswith(OWN_ROLE):
        yield from _scc_role_grants(role)
        return
    labels = role.mapping("metadata", "labels")
    level = next((name for name in _LEVELS if labels.get(f"{_AGGREGATE}{name}") in ("true", True)), "")
    if not level and role.name not in EVERYONES:
        return
    place = ("metadata", "labels", f"{_AGGREGATE}{level}") if level else ("metadata", "name")
    sccs = granted(role.tree)
    if sccs is None or sccs:
        listed = ", ".join(sorted(sccs))[:200] if sccs else "every SCC"
        use = f"adds the use of {listed} to the role {level} of every namespace"
        yield role.violation(use if level else f"gives everyone the use of {listed}", *place)
    adds = f"adds to the role {level} of every namespace" if level else "gives everyone"
    for index, right in excessive_rights(role.tree):
        yield role.violation(f"{adds} the right to {right}", "rules", index)


def _scc_role_grants(role: Obj) -> Iterator[Violation]:
    """Yield what the role that OpenShift has for an SCC gives beside that SCC, to whoever has it already."""
    scc, sccs = role.name.removeprefix(OWN_ROLE), granted(role.tree)
    if sccs is None or sccs - {scc}:
        listed = ", ".join(sorted(sccs - {scc}))[:200] if sccs else "every SCC"
        yield role.violation(f"gives everyone who may use {scc} the use of {listed}", "rules")
    for index, right in excessive_rights(role.tree):
        yield role.violation(f"gives everyone who may use {scc} the right to {right}", "rules", index)


RBAC_NO_ESCALATION = Rule(
    name="rbac-no-escalation",
    what="No binding lets an account of a tenant escalate, bind or impersonate; change quotas, limits, queues, SCCs, "
    "nodes, admission, operators or objects that give devices, their status included; bind pods to nodes or reach "
    "kubelets; or run commands, read secrets or change objects in the infrastructure's namespaces. No ClusterRole adds "
    "such a right, or the use of an SCC, to admin, edit or view, or to a role that everyone has.",
    why="Every pod of the account has the right, and can use it to get IPC_LOCK, GPUs and RDMA past every rule here: "
    "what a pod does at run time is in no manifest. Whoever writes a MachineConfig, a Tuned or a Subscription is root "
    "on nodes by the operator that reads it, and so is who runs a command in an operator's privileged pod, or has its "
    "token. The label aggregate-to-edit gives a right to every tenant at once.",
    remedy=f"Delete the rule, or bind the role to an account of the platform; {TENANTS}",
    source="P-5, E-13; kubernetes.io/docs/concepts/security/rbac-good-practices; kubernetes/kubernetes issues 78741, "
    "119640; openshift/cluster-node-tuning-operator pull 765",
    severity=Severity.MANDATORY,
    parameters=Tenancy,
    examine=_examine,
    kinds=(ROLE_BINDING, CLUSTER_ROLE_BINDING, CLUSTER_ROLE),
    links=True,
)
