"""Node Feature Discovery."""

from apis import kinds
from simulator.actors import images
from simulator.actors.nfd import MASTER, NODES, NfdMaster, NfdOperator
from simulator.actors.package import COMMON, PRIVILEGED, TEXT, Bundle, Definition, Package, operates, structure

FOUR_FOUR = Bundle(
    versions=("nfd.4.4.0-202006011320", "nfd.4.4.0-202007240028.p0"),
    definitions=(Definition(kinds.NODE_FEATURE_DISCOVERY_V1ALPHA1, structure({"namespace": TEXT, "image": TEXT})),),
    account="nfd-operator",
    rules=(*COMMON, PRIVILEGED, *operates(kinds.NODE_FEATURE_DISCOVERY_V1ALPHA1), NODES),
    image="registry.redhat.io/openshift4/ose-cluster-nfd-operator:v4.4",
)

PACKAGES = (
    Package(
        name="nfd",
        title="Node Feature Discovery",
        sources=("redhat-operators",),
        channels={"4.4": FOUR_FOUR},
    ),
)
PLAYED = ((images.NFD_OPERATORS, "", NfdOperator), (images.NFD_OPERANDS, MASTER, NfdMaster))
