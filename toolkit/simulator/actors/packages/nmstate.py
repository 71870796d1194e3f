"""Kubernetes NMState, which configures the nodes' network."""

from core.apis import kinds
from toolkit.simulator.actors import images
from toolkit.simulator.actors.nmstate import ENACTMENT, HANDLER_RULES, NmStateHandler, NmStateOperator
from toolkit.simulator.actors.package import COMMON, PRIVILEGED, TEXT, Bundle, Definition, Package, operates, structure

_STATE = structure({"interfaces": {"type": "array", "items": structure({"name": TEXT, "type": TEXT}, "name")}})
BUNDLE = Bundle(
    versions=("kubernetes-nmstate-operator.4.20.0",),
    definitions=(
        Definition(kinds.NMSTATE, structure()),
        Definition(
            kinds.NODE_NETWORK_CONFIGURATION_POLICY,
            structure({"nodeSelector": structure(), "desiredState": _STATE}),
        ),
        Definition(ENACTMENT, structure()),
    ),
    account="nmstate-operator",
    rules=(*COMMON, PRIVILEGED, *operates(kinds.NMSTATE), *HANDLER_RULES),
    image="registry.redhat.io/openshift4/ose-kubernetes-nmstate-operator-rhel9:v4.20",
    modes=frozenset({"OwnNamespace", "SingleNamespace"}),
)

PACKAGES = (
    Package(
        name="kubernetes-nmstate-operator",
        title="Kubernetes NMState Operator",
        sources=("redhat-operators",),
        channels={"stable": BUNDLE},
    ),
)
ACTORS = (
    (images.NMSTATE_OPERATORS, "", NmStateOperator),
    (images.NMSTATE_HANDLERS, "", NmStateHandler),
)
