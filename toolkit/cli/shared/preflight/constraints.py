"""Objects that the stack does not manage and that decide about its pods, in the namespaces that it has.

Quotas, defaults and limits count beside its own ones; a queue of the same cohort takes GPUs from it; which SCC admits a
pod depends on every SCC that its account may use. It only reads.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.apis import kinds
from core.apis.kinds import Kind
from core.apis.names import PART_OF
from core.wording import some
from policies.manifests.values import entries, mapping, read
from policies.scc.rbac import Rbac, Subject
from policies.scc.shipped import own_role
from stacks.checks.operator import subscriptions
from stacks.settings.platform import Settings
from toolkit.cli.shared import metadata
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.errors import Problem
from toolkit.review.sentences import name, quoted

Object = Mapping[str, Any]
Look = Callable[..., Sequence[Object]]
"""List a kind, in a namespace if one is named."""
_ACCOUNTS, _ACCOUNT = "system:serviceaccounts:", "system:serviceaccount:"
_EVERYONE = frozenset({"system:authenticated", "system:serviceaccounts"})
_OF_EVERYONE = frozenset({"restricted", "restricted-v2", "restricted-v3"})
"""OpenShift's own for everyone."""
_LIMITS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_SHOWN = 4


@dataclass(frozen=True)
class Constraint:
    """One object, and what it sets."""

    kind: str
    name: str
    """NAMESPACE/NAME, or NAME; empty where the kind cannot be read."""
    text: str


def examine(settings: Settings, cluster: Cluster, own: Collection[tuple[str, str]] = ()) -> list[Constraint]:
    """Return the constraints of others on a stack; `own`: kind and name of what it declares, labelled or not yet.

    A kind that cannot be read is among them, with the reason.
    """
    refused: dict[str, Constraint] = {}

    def look(kind: Kind, namespace: str = "") -> Sequence[Object]:
        try:
            return cluster.list(kind, namespace)
        except Problem as error:
            why = error.reason if isinstance(error, RefusedError) else str(error).splitlines()[0]
            refused[kind.kind] = Constraint(kind.kind, "", f"could not be read: {why}")
            return ()

    tenants = {tenant.namespace for tenant in settings.tenants}
    operators = {operator.namespace for _, operator in subscriptions(settings)}
    all_constraints = [
        constraint
        for constraint in constraints(tenants, operators, look)
        if (constraint.kind, constraint.name) not in own
    ]
    return [*all_constraints, *refused.values()]


def cautions(listed: Sequence[Constraint]) -> Iterator[str]:
    """Yield a sentence for each constraint, for a review."""
    for constraint in listed:
        if not constraint.name:
            what = f"Whether others have a {constraint.kind} for the stack's pods"
            yield f"{what} could not be determined: {quoted(constraint.text)}"
            continue
        what = f"{constraint.kind} {name(constraint.name)} is not of this stack"
        yield f"{what} and decides about its pods: {quoted(constraint.text)}"


def constraints(tenants: Collection[str], operators: Collection[str], look: Look) -> Iterator[Constraint]:
    """Yield what others set for pods in the namespaces of tenants and operators."""
    spaces = {*tenants, *operators}
    for kind, describe in ((kinds.RESOURCE_QUOTA, _quota), (kinds.LIMIT_RANGE, _limits)):
        for obj in look(kind):
            if metadata.namespace(obj) in spaces and _foreign(obj):
                yield _constraint(kind, obj, describe(obj))
    for obj in look(kinds.CLUSTER_RESOURCE_QUOTA):
        selected = sorted(spaces & {str(entry.get("namespace")) for entry in entries(obj, "status", "namespaces")})
        if selected and _foreign(obj):
            yield _constraint(kinds.CLUSTER_RESOURCE_QUOTA, obj, f"{', '.join(selected)}: {_quota(obj, 'total')}")
    yield from _queues(tenants, look)
    yield from _sccs(tenants, look)


def _queues(tenants: Collection[str], look: Look) -> Iterator[Constraint]:
    for obj in look(kinds.LOCAL_QUEUE):
        if metadata.namespace(obj) in tenants and _foreign(obj):
            yield _constraint(kinds.LOCAL_QUEUE, obj, f"of ClusterQueue {read(obj, 'spec', 'clusterQueue')}")
    queues = look(kinds.CLUSTER_QUEUE)
    cohorts = {_cohort(obj) for obj in queues if not _foreign(obj)} - {""}
    for obj in queues:
        if _foreign(obj) and _cohort(obj) in cohorts:
            yield _constraint(kinds.CLUSTER_QUEUE, obj, f"shares cohort {_cohort(obj)}")


def _sccs(tenants: Collection[str], look: Look) -> Iterator[Constraint]:
    for obj in look(kinds.SECURITY_CONTEXT_CONSTRAINTS):
        named = [*entries(obj, "users"), *entries(obj, "groups")]
        reached = [str(group) for group in named if group in _EVERYONE or _is_in(str(group), tenants)]
        if reached and _foreign(obj) and metadata.name(obj) not in _OF_EVERYONE:
            text = f"priority {read(obj, 'priority') or 0}, for {some(reached, _SHOWN)}"
            yield _constraint(kinds.SECURITY_CONTEXT_CONSTRAINTS, obj, text)
    yield from _bindings(tenants, look)


def _bindings(tenants: Collection[str], look: Look) -> Iterator[Constraint]:
    """Yield the bindings that let accounts of tenants use SCCs, by whatever role."""
    inside = [(kind, tenant) for kind in (kinds.ROLE, kinds.ROLE_BINDING) for tenant in sorted(tenants)]
    everywhere = [(kinds.CLUSTER_ROLE, ""), (kinds.CLUSTER_ROLE_BINDING, "")]
    listed = ((kind, obj) for kind, space in (*inside, *everywhere) for obj in look(kind, space))
    # Items of a list have no kind.
    rbac = Rbac(({**obj, "apiVersion": kind.api_version, "kind": kind.kind} for kind, obj in listed), own_role)
    for grant in rbac.grants:
        reached = [str(subject) for subject in grant.subjects if _is_of(subject, tenants)]
        sccs = None if grant.names is None else sorted(grant.names - _OF_EVERYONE)
        if reached and _foreign(grant.binding) and sccs != []:
            what = "every SCC" if sccs is None else f"SCC {some(sccs, _SHOWN)}"
            kind = kinds.ROLE_BINDING if grant.namespace else kinds.CLUSTER_ROLE_BINDING
            yield _constraint(kind, grant.binding, f"{what} for {some(reached, _SHOWN)}")


def _is_of(subject: Subject, tenants: Collection[str]) -> bool:
    return subject.namespace in tenants or subject.name in _EVERYONE or _is_in(subject.name, tenants)


def _is_in(subject: str, tenants: Collection[str]) -> bool:
    if subject.startswith(_ACCOUNTS):
        return subject.removeprefix(_ACCOUNTS) in tenants
    return subject.startswith(_ACCOUNT) and subject.removeprefix(_ACCOUNT).partition(":")[0] in tenants


def _quota(obj: Object, *part: str) -> str:
    hard = mapping(obj, "status", *part, "hard") or mapping(obj, "spec", *(("quota",) if part else ()), "hard")
    used = mapping(obj, "status", *part, "used")
    devices = sorted(hard, key=lambda resource: ("/" not in resource, resource))
    return some([f"{resource} {used.get(resource, 0)} of {hard[resource]}" for resource in devices], _SHOWN)


def _limits(obj: Object) -> str:
    return some(
        [
            f"{limit.get('type')} {key} {resource} {value}"
            for limit in entries(obj, "spec", "limits")
            for key in _LIMITS
            for resource, value in sorted(mapping(limit, key).items())
        ],
        _SHOWN,
    )


def _cohort(queue: Object) -> str:
    return str(read(queue, "spec", "cohortName") or read(queue, "spec", "cohort") or "")


def _foreign(obj: Object) -> bool:
    return metadata.labels(obj).get(metadata.PART) != PART_OF


def _constraint(kind: Kind, obj: Object, text: str) -> Constraint:
    return Constraint(kind.kind, metadata.path(obj), text)
