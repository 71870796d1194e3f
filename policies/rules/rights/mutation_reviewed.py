"""A reviewer sees what changes pods at admission, even where it gives neither devices nor rights."""

from collections.abc import Iterator

from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Rule
from policies.views.mutations import HARMLESS, POLICIES, changes
from policies.views.tenants import TENANTS, Tenancy


def _examine(subject: Obj, _: Inventory, parameters: Tenancy) -> Iterator[Violation]:
    places = [place for place, target in changes(subject) if target == HARMLESS]
    if places and not parameters.excepts(subject):
        yield from (subject.violation("changes pods at admission", *place) for place in places)


MUTATION_REVIEWED = Rule(
    name="mutation-reviewed",
    what="No MutatingAdmissionPolicy, policy of Kyverno or mutator of Gatekeeper changes pods, or objects that create "
    "them, in any other field either: labels, images, arguments, sidecars.",
    why="What runs is not what was checked and reviewed. A label or an argument gives no device by itself, but it "
    "moves a pod to another network policy, or makes its program do something else.",
    remedy=f"Write the field into the manifests instead; {TENANTS}",
    source="P-5; kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers",
    severity=Severity.ADVISORY,
    parameters=Tenancy,
    examine=_examine,
    kinds=POLICIES,
)
