"""A tenant's namespace that enforces no Pod Security Standard audits or warns by one."""

from collections.abc import Iterator

from core.apis.kinds import NAMESPACE, OPERATOR_GROUP
from core.apis.names import POD_SECURITY
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Rule
from policies.views.tenants import TENANTS, Tenancy, in_one_of

_LABELS = ("metadata", "labels")
_ENFORCE, _AUDIT, _WARN = (f"{POD_SECURITY}{mode}" for mode in ("enforce", "audit", "warn"))
_NOTHING = "privileged"


def _examine(subject: Obj, inventory: Inventory, parameters: Tenancy) -> Iterator[Violation]:
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
    examine=_examine,
    kinds=(NAMESPACE,),
    links=True,
)
