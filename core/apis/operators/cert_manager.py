"""cert-manager, Red Hat's: it starts by itself, and Kueue's and JobSet's operators wait for its kinds."""

from core.apis.operator import Operator, Recommended, Upgrade

OPERATOR = Operator(
    package="openshift-cert-manager-operator",
    api_groups=("cert-manager.io",),
    images=("cert-manager-controller",),
    recommended=Recommended(
        namespace="cert-manager-operator", own_namespace_only=False, channels={"4.20": "stable-v1"}
    ),
    upgrade=Upgrade("certificates that are due meanwhile are renewed when it is back"),
)
