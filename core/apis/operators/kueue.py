"""Kueue, Red Hat's build."""

from core.apis.operator import Operator, Upgrade

OPERATOR = Operator(
    package="kueue-operator",
    api_groups=("kueue.x-k8s.io",),
    images=("kueue",),
    upgrade=Upgrade("Kueue starts again: jobs that run go on, new ones wait until it is back"),
    # By the bundle of 1.0.1: openshift/kueue-operator, 5e9866c7, installModes.
    clusterwide=True,
    numbered_channels=True,
)
