"""IBM Spectrum Scale CSI."""

from core.apis.operator import Operator, Upgrade

OPERATOR = Operator(
    package="ibm-spectrum-scale-csi-operator",
    api_groups=("csi.ibm.com",),
    images=("ibm-spectrum-scale-csi-operator", "ibm-storage-scale-csi-operator"),
    upgrade=Upgrade(
        "the driver's pods start again on {nodes}: mounted volumes stay, pods that start meanwhile wait for theirs"
    ),
)
