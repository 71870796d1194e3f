"""Names that two parts of a stack, or the stack and OpenShift, would both create."""

from collections import defaultdict
from collections.abc import Iterator

from components.operators.mpi_operator import OPERATOR
from components.operators.trainer import NAMESPACE
from core.apis.names import SCC_EXEMPT_NAMESPACES
from stacks.checks.duplicates import repeated
from stacks.checks.operator import subscriptions
from stacks.settings.platform import Settings
from stacks.settings.trainer import UpstreamTrainer

_OPENSHIFTS = frozenset(
    {
        *SCC_EXEMPT_NAMESPACES,
        "openshift-config",
        "openshift-image-registry",
        "openshift-ingress",
        "openshift-machine-api",
        "openshift-machine-config-operator",
        "openshift-marketplace",
        "openshift-monitoring",
        "openshift-operator-lifecycle-manager",
        "openshift-operators",
    }
)
"""Namespaces that every cluster has, so that no operator of the stack can get one of them."""
_SYSTEM = ("openshift-", "kube-")
"""Prefixes of the system's namespaces, also of those of OpenShift's own operators."""


def problems(settings: Settings) -> Iterator[str]:
    """Yield names that are given twice, or that the cluster itself uses."""
    yield from repeated(
        "priority_classes: class_name", (priority_class.class_name for priority_class in settings.priority_classes)
    )
    users: defaultdict[str, list[str]] = defaultdict(list)
    for place, operator in subscriptions(settings):
        if operator.installed:
            continue
        users[operator.namespace].append(f"{place}.namespace")
        if operator.namespace in _OPENSHIFTS or operator.namespace.startswith("kube-"):
            yield (
                f"{place}.namespace {operator.namespace} is OpenShift's own, and the operator gets one of its "
                f"own; give another, e.g. {operator.package}"
            )
    if settings.mpi_operator and not settings.mpi_operator.installed:
        users[OPERATOR].append("mpi_operator")
    if isinstance(settings.trainer, UpstreamTrainer):
        users[NAMESPACE].append("trainer")
    for tenant in settings.tenants:
        if tenant.namespace in _OPENSHIFTS or tenant.namespace.startswith(_SYSTEM):
            yield (f"tenants: namespace {tenant.namespace} is reserved for the system; give the tenant's name")
        if tenant.namespace not in _OPENSHIFTS:
            users[tenant.namespace].append(f"tenants: namespace of {tenant.namespace}")
    for namespace, places in users.items():
        # Duplicate tenants are reported where tenants are compared.
        if len({*places}) > 1:
            yield f"{' and '.join(dict.fromkeys(places))}: both create the namespace {namespace}; give each its own"
