"""What is checked against a stack is in a namespace that the stack or the infrastructure has."""

from collections.abc import Iterator
from difflib import get_close_matches

from pydantic import Field

from core.apis.kinds import NAMESPACE, find
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import brief
from policies.rule import ALL_KINDS, Rule
from policies.views.tenants import Tenancy

_LISTED = 10
_LONGEST = 63
"""Characters of a namespace's name."""


class KnownNamespace(Tenancy):
    """The namespaces that exist beside those among the objects."""

    tenants: tuple[str, ...] = Field(
        default=(), description="namespaces of the tenants; none means that they are unknown and nothing is checked"
    )


def _examine(subject: Obj, inventory: Inventory, parameters: KnownNamespace) -> Iterator[Violation]:
    if not parameters.tenants or parameters.excepts(subject) or _is_clusters(subject):
        return
    place = ("metadata", "namespace")
    namespace = subject.read(*place)
    if not isinstance(namespace, str) or not namespace or namespace in parameters.tenants:
        return
    if inventory.get(NAMESPACE, namespace) is None:
        close = get_close_matches(namespace[:_LONGEST], parameters.tenants, n=1)
        hint = f": did you mean {close[0]}?" if close else ""
        tenants = ", ".join(parameters.tenants[:_LISTED])
        yield subject.violation(
            f"namespace {brief(namespace)} is not a tenant of the stack{hint} (tenants: {tenants})", *place
        )


def _is_clusters(subject: Obj) -> bool:
    """Return whether objects of a kind have no namespace; Pulumi's provider gives them `default` all the same."""
    kind = find(subject.api_version, subject.kind)
    return kind is not None and kind.scope == "Cluster"


KNOWN_NAMESPACE = Rule(
    name="known-namespace",
    what="Every object is in the namespace of a tenant, of the infrastructure, or in one that is among the objects.",
    why='Only the cluster refuses a misspelt namespace: namespaces "langauge" not found. Until then its quotas, '
    "accounts and claims cannot be verified, so most other rules report nothing about the object.",
    remedy="Correct the namespace, add the tenant to the stack's settings, or include the Namespace's file in the "
    "check",
    source="kubernetes.io/docs/concepts/overview/working-with-objects/namespaces",
    severity=Severity.MANDATORY,
    parameters=KnownNamespace,
    examine=_examine,
    kinds=ALL_KINDS,
    links=True,
)
