"""Special Resource Operator, of 2020."""

from core.apis.operator import Operator, Upgrade

OPERATOR = Operator(
    package="special-resource-operator",
    upgrade=Upgrade(
        "the drivers that it builds start again, node by node, on {nodes}: jobs there lose their GPUs", "GPUs", True
    ),
)
