"""Special Resource Operator, of 2020."""

from core.apis import kinds
from toolkit.simulator.access.rbac import OWN, READ, Rule
from toolkit.simulator.actors import images
from toolkit.simulator.actors.package import COMMON, PRIVILEGED, Bundle, Definition, Package, operates, structure
from toolkit.simulator.actors.sro import SpecialResourceOperator

BUNDLE = Bundle(
    versions=("special-resource-operator.v0.0.1",),
    definitions=(Definition(kinds.SPECIAL_RESOURCE_V1ALPHA1, structure()),),
    account="special-resource-operator",
    rules=(
        *COMMON,
        PRIVILEGED,
        *operates(kinds.SPECIAL_RESOURCE_V1ALPHA1),
        Rule(("",), ("namespaces",), OWN),
        Rule(("",), ("nodes",), READ),
    ),
    image="quay.io/openshift-psap/special-resource-operator:release-4.4",
)

PACKAGES = (
    Package(
        name="special-resource-operator",
        title="Special Resource Operator",
        sources=("redhat-operators", "community-operators"),
        channels={"4.4": BUNDLE},
    ),
)
ACTORS = ((images.SRO_OPERATORS, "", SpecialResourceOperator),)
