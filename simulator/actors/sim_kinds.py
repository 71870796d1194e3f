"""Kinds that only the simulated cluster handles, beside those of `apis.kinds`."""

from apis.kinds import Kind

EVENT = Kind("", "v1", "Event", "events")
CSI_DRIVER = Kind("storage.k8s.io", "v1", "CSIDriver", "csidrivers", "Cluster")
CATALOG_SOURCE = Kind("operators.coreos.com", "v1alpha1", "CatalogSource", "catalogsources")
LOGS = Kind("kwok.x-k8s.io", "v1alpha1", "Logs", "logs")
ENACTMENT = Kind(
    "nmstate.io", "v1beta1", "NodeNetworkConfigurationEnactment", "nodenetworkconfigurationenactments", "Cluster"
)
NETWORK_ATTACHMENT_DEFINITION = Kind(
    "k8s.cni.cncf.io", "v1", "NetworkAttachmentDefinition", "network-attachment-definitions"
)
WORKLOAD = Kind("kueue.x-k8s.io", "v1beta2", "Workload", "workloads", other_versions=("v1beta1",))
