"""Names that other parties fix: resources, capabilities, labels and annotations."""

GPU_RESOURCE = "nvidia.com/gpu"
GPU_ACCELERATOR = "openshift.com/gpu-accelerator"
"""Label of nodes with GPUs whose driver the host has (S-7.1)."""
GPU_SLICE_PREFIXES = ("nvidia.com/gpu.", "nvidia.com/mig-")
"""Shared GPUs and slices of one, as NVIDIA's device plugin names them."""
RDMA_PREFIX = "rdma/"
IPC_LOCK = "IPC_LOCK"
NET_BIND_SERVICE = "NET_BIND_SERVICE"

SCC_UID_RANGE = "openshift.io/sa.scc.uid-range"
SCC_SUPPLEMENTAL_GROUPS = "openshift.io/sa.scc.supplemental-groups"
SCC_MCS = "openshift.io/sa.scc.mcs"

MACHINE_CONFIG_ROLE = "machineconfiguration.openshift.io/role"
NODE_ROLE = "node-role.kubernetes.io/"
"""Prefix of the label for a node's role, which follows."""
MACHINE_CONFIG_POOL = "pools.operator.machineconfiguration.openshift.io/"
"""Prefix of the label that OpenShift gives its own pools, master and worker; the pool's name follows."""

WAIT_FOR = "pulumi.com/waitFor"
SKIP_AWAIT = "pulumi.com/skipAwait"
TIMEOUT_SECONDS = "pulumi.com/timeoutSeconds"

SCALE_CSI_DRIVER = "spectrumscale.csi.ibm.com"
SCALE_NAMESPACE, SCALE_CSI_NAMESPACE = "ibm-spectrum-scale", "ibm-spectrum-scale-csi"
"""Of container-native Storage Scale and its CSI driver; IBM's manifest makes both, and a third for the operator."""
SCALE_CORE = "scale.spectrum.ibm.com/daemon-selector"
"""Label of nodes that run a core pod of container-native Storage Scale; its value is empty."""
SCALE_MOUNTS = "/mnt/"
"""Below this path container-native Storage Scale mounts its file systems, by name: on RHCOS nowhere else."""
KERNEL_DEVEL = "kernel-devel"
"""Extension of RHCOS with the kernel's headers, as MachineConfigs name it."""

AWAITED = "hpc.pulumi/awaited"
"""On objects of other owners: what we waited for there."""
CONFIG_DIGEST = "hpc.pulumi/config-sha256"
"""On a pod template: digest of the configuration that its pods read at start."""

SCC_EXEMPT_NAMESPACES = ("default", "kube-public", "kube-system", "openshift", "openshift-infra", "openshift-node")
"""OpenShift's API server leaves SCC admission out in these, and in namespaces of run level 0 and 1.

Source: openshift/kubernetes, openshift-kube-apiserver/admission/namespaceconditions and admissionenablement.
"""
RUN_LEVEL = "openshift.io/run-level"
RUN_LEVELS_WITHOUT_SCC = ("0", "1")

POD_SECURITY = "pod-security.kubernetes.io/"
"""Prefix of a namespace's labels of the pod security standards: enforce, audit, warn."""
POD_SECURITY_SYNC = "security.openshift.io/scc.podSecurityLabelSync"
"""Label with which a namespace forbids OpenShift to set those labels by the SCCs of its accounts."""
NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""Label that the API server gives every namespace: its name."""

SSH_FILES = "hpc.pulumi/ssh-file."
"""On pods that are reached by SSH, with the file's name: its content."""
QUEUE_NAME = "kueue.x-k8s.io/queue-name"
"""On a job: the LocalQueue that Kueue admits it from."""
KUEUE_MANAGED = "kueue.openshift.io/managed"
"""Label of namespaces whose jobs Red Hat's Kueue manages; in others it ignores the queue's name."""
NETWORKS = "k8s.v1.cni.cncf.io/networks"
"""On a pod: the secondary networks that it joins, as Multus reads it."""
CONSOLE_DASHBOARD = "console.openshift.io/dashboard"
"""Label of ConfigMaps that OpenShift's console shows as dashboards."""
NETWORK_CONFIG = "cluster"
"""Name of the one Network of config.openshift.io, whose status describes the pod network."""
CLUSTER_VERSION = "version"
"""Name of the one ClusterVersion, whose status names the release of OpenShift."""

MPI_JOB_NAME, MPI_ROLE = "mpi_job_name", "mpi_role_type"
"""Labels of an MPIJob's pods in v1alpha2: the job, and launcher or worker."""
MPI_JOB_NAME_V2BETA1, MPI_ROLE_V2BETA1 = "training.kubeflow.org/job-name", "training.kubeflow.org/job-role"
"""The same in v2beta1."""
JOB_NAME = "job-name"
COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
"""Label of the pods of a batch Job: the job."""
LAUNCHER = "launcher"
"""Role of the pod that prints an MPIJob's results."""
