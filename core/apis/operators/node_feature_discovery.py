"""Node Feature Discovery, Red Hat's."""

from core.apis.operator import Operator, Upgrade

OPERATOR = Operator(
    package="nfd",
    api_groups=("nfd.openshift.io", "nfd.k8s-sigs.io"),
    images=("node-feature-discovery", "cluster-nfd-operator"),
    upgrade=Upgrade(
        "its pods start again on {nodes} and label them again: what is placed by labels of a name that the new version "
        "does not give starts no more"
    ),
)
