"""Node Feature Discovery, Red Hat's."""

from apis.operator import Operator, Upgrade

OPERATOR = Operator(
    package="nfd",
    upgrade=Upgrade(
        "its pods start again on {nodes} and label them again: what is placed by labels of a name that the new version "
        "does not give starts no more"
    ),
)
