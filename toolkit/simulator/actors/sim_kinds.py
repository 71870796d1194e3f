"""Kinds that only the simulated cluster handles, beside those of `core.apis.kinds`."""

from core.apis.kinds import Kind

EVICTION = Kind("policy", "v1", "Eviction", "evictions")
CSI_DRIVER = Kind("storage.k8s.io", "v1", "CSIDriver", "csidrivers", "Cluster")
SCALE_DAEMON = Kind("scale.spectrum.ibm.com", "v1beta1", "Daemon", "daemons")
LOGS = Kind("kwok.x-k8s.io", "v1alpha1", "Logs", "logs")
SERVICE = Kind("", "v1", "Service", "services")
ENDPOINT_SLICE = Kind("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices")
VALIDATING_WEBHOOK_CONFIGURATION = Kind(
    "admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", "Cluster"
)
