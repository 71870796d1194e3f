"""Special Resource Operator, of 2020."""

from apis import kinds
from simulator.actors import images
from simulator.actors.package import COMMON, PRIVILEGED, Bundle, Definition, Package, operates, structure
from simulator.actors.rbac import OWN, READ, Rule
from simulator.actors.sro import SpecialResourceOperator

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
