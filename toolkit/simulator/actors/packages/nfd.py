"""Node Feature Discovery."""

from core.apis import kinds
from toolkit.simulator.access.rbac import OWN, Rule
from toolkit.simulator.actors import images
from toolkit.simulator.actors.nfd_master import MASTER, OPERATOR_RULES, NfdMaster
from toolkit.simulator.actors.nfd_v1 import NfdOperatorToday
from toolkit.simulator.actors.nfd_v1alpha1 import NfdOperator
from toolkit.simulator.actors.package import COMMON, PRIVILEGED, TEXT, Bundle, Definition, Package, operates, structure

EARLY, TODAY = kinds.NODE_FEATURE_DISCOVERY_V1ALPHA1, kinds.NODE_FEATURE_DISCOVERY_V1

FOUR_FOUR = Bundle(
    versions=("nfd.4.4.0-202006011320", "nfd.4.4.0-202007240028.p0"),
    definitions=(Definition(EARLY, structure({"namespace": TEXT, "image": TEXT})),),
    account="nfd-operator",
    rules=(*COMMON, PRIVILEGED, *operates(EARLY), *OPERATOR_RULES),
    image="registry.redhat.io/openshift4/ose-cluster-nfd-operator:v4.4",
)
STABLE = Bundle(
    versions=("nfd.4.20.0-202603051149", "nfd.4.20.0-202607171900"),
    definitions=(
        Definition(
            TODAY,
            structure(
                {
                    "operand": structure({"image": TEXT}),
                    "workerConfig": structure({"configData": TEXT}, "configData"),
                }
            ),
            older=(EARLY,),
        ),
    ),
    account="nfd-operator",
    rules=(
        *COMMON,
        *operates(TODAY),
        *OPERATOR_RULES,
        Rule((kinds.SECURITY_CONTEXT_CONSTRAINTS.group,), (kinds.SECURITY_CONTEXT_CONSTRAINTS.plural,), OWN),
    ),
    image="registry.redhat.io/openshift4/ose-cluster-nfd-rhel9-operator:v4.20",
)

PACKAGES = (
    Package(
        name="nfd",
        title="Node Feature Discovery",
        sources=("redhat-operators",),
        channels={"stable": STABLE, "4.4": FOUR_FOUR},
    ),
)
ACTORS = (
    (images.NFD_OPERATORS, "", NfdOperator),
    (images.NFD_OPERATORS_TODAY, "", NfdOperatorToday),
    (images.NFD_OPERANDS, MASTER, NfdMaster),
)
