"""Kueue, Red Hat's build."""

from apis.operator import Operator, Upgrade

OPERATOR = Operator(
    package="kueue-operator",
    upgrade=Upgrade("Kueue starts again: jobs that run go on, new ones wait until it is back"),
    # openshift/kueue-operator, bundle/manifests/kueue-operator.clusterserviceversion.yaml
    clusterwide=True,
)
