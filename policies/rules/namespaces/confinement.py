"""What a tenant's namespace gives its pods, and which admission it keeps."""

import json
from collections.abc import Iterator, Mapping
from itertools import takewhile

from pydantic import Field

from core.apis.kinds import NAMESPACE, OPERATOR_GROUP, PROJECT
from core.apis.names import (
    DEFAULT_TOLERATIONS,
    POD_SECURITY,
    PROJECT_NODE_SELECTOR,
    RUN_LEVEL,
    RUN_LEVELS_WITHOUT_SCC,
    SCC_DISABLED,
    SCC_MCS,
    SCC_SUPPLEMENTAL_GROUPS,
    SCC_UID_RANGE,
    SCHEDULER_NODE_SELECTOR,
    WORKLOADS_ALLOWED,
)
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Tree
from policies.rule import Rule, Severity
from policies.views.accounts import ids
from policies.views.tenants import TAINTS, TENANTS, Tenancy, in_one_of, reached_taint

_NOTES = ("metadata", "annotations")
_IDS: Mapping[str, str] = {SCC_UID_RANGE: "user", SCC_SUPPLEMENTAL_GROUPS: "group"}
_SELECTORS = (PROJECT_NODE_SELECTOR, SCHEDULER_NODE_SELECTOR)
_LONGEST, _MOST = 1 << 14, 64


class NamespaceConfined(Tenancy):
    """What a tenant's namespace may have."""

    first_id: int = Field(
        default=1000, ge=1, description="the first user id and group id that is not root's or a service's of a node"
    )
    taints: tuple[str, ...] = Field(
        default=TAINTS, description="patterns of the taints, and of the node labels, of nodes that are not for tenants"
    )


def _namespace_confined(subject: Obj, inventory: Inventory, parameters: NamespaceConfined) -> Iterator[Violation]:
    if in_one_of(subject.name, parameters.exempt_namespaces) or parameters.excepts(subject):
        return
    for key, kind in _IDS.items():
        blocks = [block for entry in subject.text(*_NOTES, key)[:_LONGEST].split(",") if (block := ids(entry))]
        if low := [block.start for block in blocks if block.start < parameters.first_id]:
            whose = "root's" if not min(low) else "of the node's own services"
            yield subject.violation(f"gives its pods {kind} {min(low)}, {whose}", *_NOTES, key)
    yield from _users(subject, inventory, parameters)
    yield from _level(subject, inventory, parameters)
    for reached in dict.fromkeys(_tolerated(subject.text(*_NOTES, DEFAULT_TOLERATIONS), parameters)):
        yield subject.violation(f"lets all its pods tolerate {reached}", *_NOTES, DEFAULT_TOLERATIONS)
    for key in _SELECTORS:
        for label in (part.partition("=")[0].strip() for part in subject.text(*_NOTES, key)[:_LONGEST].split(",")):
            if label.startswith("node-role.kubernetes.io/") and reached_taint(label, "", "", parameters.taints):
                yield subject.violation(f"puts its pods on nodes with the label {label[:200]}", *_NOTES, key)
    workloads = subject.text(*_NOTES, WORKLOADS_ALLOWED)
    if workloads and not any(group.namespace == subject.name for group in inventory.of(OPERATOR_GROUP)):
        message = f"lets its pods be {workloads[:80]} workloads, whose processors no quota counts"
        yield subject.violation(message, *_NOTES, WORKLOADS_ALLOWED)


def _users(subject: Obj, inventory: Inventory, parameters: NamespaceConfined) -> Iterator[Violation]:
    user_ids = ids(subject.text(*_NOTES, SCC_UID_RANGE)[:_LONGEST])
    if user_ids is None:
        return
    earlier = takewhile(lambda namespace: namespace != subject, inventory.of(NAMESPACE))
    for other in earlier:  # of two, the second is reported
        block = ids(other.text(*_NOTES, SCC_UID_RANGE)[:_LONGEST])
        shared = block is not None and block.start <= user_ids.end and user_ids.start <= block.end
        if shared and other.name != subject.name and not in_one_of(other.name, parameters.exempt_namespaces):
            message = f"has user ids of namespace {other.name}: {user_ids.start} to {user_ids.end}"
            yield subject.violation(message, *_NOTES, SCC_UID_RANGE)
            return


def _level(subject: Obj, inventory: Inventory, parameters: NamespaceConfined) -> Iterator[Violation]:
    level = subject.text(*_NOTES, SCC_MCS)
    if not level:
        return
    categories = _categories(level)
    if categories is None:
        message = f"has the SELinux level {level[:80]}, which is not one set of categories"
        yield subject.violation(message, *_NOTES, SCC_MCS)
        return
    others = inventory.once(_levels).get(categories, ())
    shared = [name for name in others if not in_one_of(name, parameters.exempt_namespaces)]
    if subject.name in shared[1:]:
        yield subject.violation(f"has the SELinux level of namespace {shared[0]}, {level[:80]}", *_NOTES, SCC_MCS)


def _levels(inventory: Inventory) -> Mapping[frozenset[str], list[str]]:
    by_categories: dict[frozenset[str], list[str]] = {}
    for namespace in inventory.of(NAMESPACE):
        categories = _categories(namespace.text(*_NOTES, SCC_MCS))
        if categories is not None and namespace.name not in by_categories.setdefault(categories, []):
            by_categories[categories].append(namespace.name)
    return by_categories


def _categories(level: str) -> frozenset[str] | None:
    """Return the categories of a level such as s0:c27,c24; None where it has none, or a range of them."""
    _, colon, categories = level.partition(":")
    ranged = "." in categories or "-" in level
    return frozenset(categories.split(",")) if colon and categories and not ranged else None


def _tolerated(annotation: str, parameters: NamespaceConfined) -> Iterator[str]:
    try:
        content = json.loads(annotation[:_LONGEST]) if annotation else []
    except (ValueError, RecursionError):
        return
    for entry in content[:_MOST] if isinstance(content, list) else ():
        if isinstance(entry, Mapping):
            # The API server is written in Go, which reads the keys of JSON in any case.
            plain = {str(key).lower(): value for key, value in entry.items()}
            key, operator, effect = (_text(plain.get(field)) for field in ("key", "operator", "effect"))
            if reached := reached_taint(key, operator, effect, parameters.taints):
                yield reached


def _text(value: Tree) -> str:
    return value if isinstance(value, str) else ""


NAMESPACE_CONFINED = Rule(
    name="namespace-confined",
    what="The annotations of a tenant's namespace give its pods no user or group id of the node's own, no user ids or "
    "SELinux categories of another tenant, no level without categories, no toleration or node selector of nodes that "
    "are not for tenants, and no part in the cluster's management workloads.",
    why="Admission takes these annotations as they are: with uid-range 0/10000 every pod under restricted-v2 runs as "
    "root, with the level s0 it opens the files of all tenants on its node, and with default tolerations it runs on "
    "the control plane. No pod's manifest shows it.",
    remedy=f"Delete the annotation, and OpenShift allocates the namespace's own; {TENANTS}",
    source="P-12, platform-facts 0; openshift/origin issue 7014, openshift/openshift-docs pull 110401, "
    "openshift/enhancements pull 703",
    severity=Severity.MANDATORY,
    parameters=NamespaceConfined,
    examine=_namespace_confined,
    kinds=(NAMESPACE, PROJECT),
    links=True,
)


_LABELS = ("metadata", "labels")


def _namespace_keeps_scc(subject: Obj, _: Inventory, parameters: Tenancy) -> Iterator[Violation]:
    level, disabled = subject.read(*_LABELS, RUN_LEVEL), subject.read(*_LABELS, SCC_DISABLED)
    if in_one_of(subject.name, parameters.exempt_namespaces) or parameters.excepts(subject):
        return
    if str(level) in RUN_LEVELS_WITHOUT_SCC:
        yield subject.violation(f"has run level {level}, in which OpenShift evaluates no SCC", *_LABELS, RUN_LEVEL)
    if str(disabled).lower() == "true":
        yield subject.violation("has the label by which OpenShift evaluates no SCC", *_LABELS, SCC_DISABLED)


NAMESPACE_KEEPS_SCC = Rule(
    name="namespace-keeps-scc",
    what=f"No namespace outside the infrastructure has the label {RUN_LEVEL} set to 0 or 1, or "
    f"{SCC_DISABLED} set to true.",
    why="In such a namespace OpenShift skips SCC admission: every pod may be privileged, whatever its account may use, "
    "and no user id, SELinux level or seccomp profile is filled in.",
    remedy=f"Delete the label; {TENANTS}",
    source="E-17, platform-facts 1.10; openshift/kubernetes, admission/namespaceconditions and admissionenablement",
    severity=Severity.MANDATORY,
    parameters=Tenancy,
    examine=_namespace_keeps_scc,
    kinds=(NAMESPACE,),
)


_ENFORCE, _AUDIT, _WARN = (f"{POD_SECURITY}{mode}" for mode in ("enforce", "audit", "warn"))
_NOTHING = "privileged"


def _namespace_pod_security(subject: Obj, inventory: Inventory, parameters: Tenancy) -> Iterator[Violation]:
    if subject.read(*_LABELS, _ENFORCE) != _NOTHING or in_one_of(subject.name, parameters.exempt_namespaces):
        return
    stricter = [mode for mode in (_AUDIT, _WARN) if subject.text(*_LABELS, mode) not in ("", _NOTHING)]
    operators = any(group.namespace == subject.name for group in inventory.of(OPERATOR_GROUP))
    hidden = any(subject.hidden(*_LABELS, mode) for mode in (_AUDIT, _WARN))
    if not stricter and not hidden and not operators and not parameters.excepts(subject):
        yield subject.violation(
            "enforces privileged, and neither audits nor warns by another level", *_LABELS, _ENFORCE
        )


NAMESPACE_POD_SECURITY = Rule(
    name="namespace-pod-security",
    what=f"A tenant's namespace with the label {POD_SECURITY}enforce: privileged has {POD_SECURITY}audit or "
    f"{POD_SECURITY}warn at a stricter level.",
    why="IPC_LOCK needs privileged, and on OpenShift SCC admission decides all the same; but where an SCC is too wide, "
    "no one sees which pods use it, unless the API server records them or warns who creates them.",
    remedy=f"Write audit: restricted and warn: restricted beside it; {TENANTS}",
    source="kubernetes.io/docs/concepts/security/pod-security-admission",
    severity=Severity.ADVISORY,
    parameters=Tenancy,
    examine=_namespace_pod_security,
    kinds=(NAMESPACE,),
    links=True,
)
