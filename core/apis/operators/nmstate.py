"""Kubernetes NMState, Red Hat's."""

from core.apis.operator import Operator, Upgrade

OPERATOR = Operator(
    package="kubernetes-nmstate-operator",
    api_groups=("nmstate.io",),
    images=("kubernetes-nmstate-operator",),
    upgrade=Upgrade(
        "its handlers start again on {nodes} and apply the declared network again: who manages it differently cuts "
        "nodes off"
    ),
)
