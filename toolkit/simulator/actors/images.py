"""Last parts of the image repositories whose pods the actors simulate, whatever registry they come from."""

NFD_OPERATORS = frozenset({"cluster-nfd-operator", "ose-cluster-nfd-operator", "origin-cluster-nfd-operator"})
NFD_OPERATORS_TODAY = frozenset({"ose-cluster-nfd-rhel9-operator"})
NFD_OPERANDS_TODAY = frozenset({"ose-node-feature-discovery-rhel9"})
NFD_OPERANDS = NFD_OPERANDS_TODAY | {
    "node-feature-discovery",
    "ose-node-feature-discovery",
    "origin-node-feature-discovery",
}
SRO_OPERATORS = frozenset({"special-resource-operator"})
GPU_DRIVERS = frozenset({"nvidia-driver-container", "driver"})
GPU_PLUGINS = frozenset({"k8s-device-plugin"})
FEATURE_DISCOVERY = "gpu-feature-discovery"
"""Command of the GPU plugin's image that finds features and offers nothing."""
SHARING_DAEMON = "mps-control-daemon"
"""Likewise the one by which several processes share a GPU at the same time."""
GPU_EXPORTERS = frozenset({"dcgm-exporter"})
DRA_DRIVERS = frozenset({"dra-driver-nvidia-gpu", "k8s-dra-driver-gpu"})
"""Of the chart of kubernetes-sigs and of GPU Operator 26.7; the command says which of its programs a container runs."""
GPU_TOOLKITS = frozenset({"container-toolkit"})
GPU_VALIDATORS = frozenset({"gpu-operator-validator"})
GPU_OPERATORS = frozenset({"gpu-operator"})
MIG_MANAGERS = frozenset({"k8s-mig-manager"})
NETWORK_OPERATORS = frozenset({"network-operator"})
ADAPTER_DRIVERS = frozenset({"doca-driver", "mofed"})
SRIOV_PLUGINS = frozenset({"sriov-network-device-plugin"})
RDMA_PLUGINS = frozenset({"k8s-rdma-shared-dev-plugin"})
MPI_OPERATORS = frozenset({"mpi-operator"})
NMSTATE_OPERATORS = frozenset({"ose-kubernetes-nmstate-operator-rhel9"})
NMSTATE_HANDLERS = frozenset({"ose-kubernetes-nmstate-handler-rhel9"})
CERTIFICATE_OPERATORS = frozenset({"cert-manager-operator-rhel9"})
CERT_MANAGERS = frozenset({"jetstack-cert-manager-rhel9"})
KUEUE_OPERATORS = frozenset({"kueue-operator-rhel9"})
KUEUE_MANAGERS = frozenset({"kueue-rhel9"})
JOBSET_OPERATORS = frozenset({"jobset-rhel9-operator"})
JOBSET_MANAGERS = frozenset({"jobset-rhel9"})
TRAINER_MANAGERS = frozenset({"trainer-controller-manager"})
PROBED = CERT_MANAGERS | KUEUE_MANAGERS | JOBSET_MANAGERS | TRAINER_MANAGERS
"""Those whose pod is ready when a real controller serves its webhooks, and not before."""
NODE_HEALTH_CHECKS = frozenset({"node-healthcheck-rhel9-operator"})
SELF_NODE_REMEDIATIONS = frozenset({"self-node-remediation-rhel9-operator"})
CSI_OPERATORS = frozenset({"ibm-spectrum-scale-csi-operator"})
SCALE_OPERATORS = frozenset({"ibm-spectrum-scale-operator"})
SCALE_CORES = frozenset({"ibm-spectrum-scale-daemon"})
CSI_PROVISIONERS = frozenset({"csi-provisioner"})
CSI_DRIVERS = {"spectrumscale.csi.ibm.com": frozenset({"ibm-spectrum-scale-csi-driver"})}
"""CSI driver name -> images whose pod on a node registers it there."""
