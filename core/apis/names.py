"""Names that several parties agree on: resources, capabilities, labels, annotations, marks in logs.

Among them the recommended labels, which every object of the stack carries.
"""

GPU_RESOURCE = "nvidia.com/gpu"
GPU_ACCELERATOR = "openshift.com/gpu-accelerator"
"""Label of nodes with GPUs whose driver the host has."""
MIG_PREFIX = "nvidia.com/mig-"
"""Before the size of an instance, e.g. 1g.5gb: the resource of such instances under the strategy `mixed`."""
MIG_CONFIG = "nvidia.com/mig.config"
"""Label of a node that says how its GPUs are divided, by a name of the GPU Operator's list."""
GPU_PRODUCT = "nvidia.com/gpu.product"
"""Label of nodes with the model of their GPUs, by GPU feature discovery."""
GPU_PRESENT = "nvidia.com/gpu.present"
"""Label of nodes with GPUs that the GPU operator manages."""
NODE_FEATURE = "feature.node.kubernetes.io/"
"""Prefix of the labels of node feature discovery."""
GPU_FEATURES = tuple(f"{NODE_FEATURE}pci-{device}.present" for device in ("10de", "0302_10de", "0300_10de"))
"""Labels of nodes with NVIDIA's devices: the vendor alone, as OpenShift's operator has it, or after the class."""
COMPUTE_DOMAIN = "resource.nvidia.com/computeDomain"
"""Label of what is of a ComputeDomain, with its UID: nodes, daemons, cliques."""
COMPUTE_DOMAIN_CLIQUE = f"{COMPUTE_DOMAIN}.cliqueID"
GPU_CLIQUE = "nvidia.com/gpu.clique"
"""Label of a node whose GPUs have NVLink to those of others: the UUID of the NVLink domain, a dot, the clique."""
GPU_DEPLOY = "nvidia.com/gpu.deploy."
"""Prefix of the labels by which the GPU Operator places its operands."""
GPU_OPERANDS = f"{GPU_DEPLOY}operands"
"""Label of nodes that the GPU Operator leaves alone, where it is false."""
OFED_WAIT = "network.nvidia.com/operator.mofed.wait"
"""Label of nodes with an adapter: `true` while the network operator's driver is not ready there, `false` otherwise.

The GPU driver that brings nvidia-peermem waits for `false` (NVIDIA/gpu-operator PR 1942).
"""
MELLANOX_ADAPTER = f"{NODE_FEATURE}pci-15b3.present"
"""Label of nodes with an adapter of Mellanox."""
GPU_NODE = "hpc.pulumi/gpu-node"
"""Label that a stack gives its own GPU nodes; selectors by it reach no other node with the same devices."""
POOL = "hpc.pulumi/pool"
"""Label with the pool of a node, by the name that the settings give it."""
GPU_SLICE_PREFIXES = ("nvidia.com/gpu.", MIG_PREFIX)
"""Shared GPUs and slices of one, as NVIDIA's device plugin names them."""
NVIDIA_PREFIX = "nvidia.com/"
"""Of everything that NVIDIA's plugins offer; by other names than GPU_RESOURCE, too, such as that of a model."""
DEVICE_CLASS_PREFIX = "deviceclass.resource.kubernetes.io/"
"""Before the name of a DeviceClass: a resource by which a pod gets its devices without a claim (Kubernetes 1.34)."""
GPU_RESOURCES = (GPU_RESOURCE, MIG_PREFIX)
"""Prefixes of the resources of GPUs and their parts."""
RDMA_PREFIX = "rdma/"
IPC_LOCK = "IPC_LOCK"
NET_BIND_SERVICE = "NET_BIND_SERVICE"

SCC_UID_RANGE = "openshift.io/sa.scc.uid-range"
SCC_SUPPLEMENTAL_GROUPS = "openshift.io/sa.scc.supplemental-groups"
SCC_MCS = "openshift.io/sa.scc.mcs"

MACHINE_CONFIG_ROLE = "machineconfiguration.openshift.io/role"
CPU_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""Architectures of processors -> what Kubernetes and images call them."""
KUBERNETES_TAINTS = (
    *("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/"),
    *("node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"),
)
"""Beginnings of keys of taints that Kubernetes and the installer set: of nodes that are not well, and of masters."""
NODE_ROLE = "node-role.kubernetes.io/"
"""Prefix of the label for a node's role, which follows."""
MACHINE_CONFIG_POOL = "pools.operator.machineconfiguration.openshift.io/"
"""Prefix of the label that OpenShift gives its own pools, master and worker; the pool's name follows."""

PULUMI = "pulumi.com/"
"""Prefix of the annotations that Pulumi's provider reads."""
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
"""OpenShift's API server leaves SCC admission out in these, in namespaces of run level 0 and 1, and in those with
the label below.

Source: openshift/kubernetes, openshift-kube-apiserver/admission/namespaceconditions and admissionenablement.
"""
RUN_LEVEL = "openshift.io/run-level"
RUN_LEVELS_WITHOUT_SCC = ("0", "1")
SCC_DISABLED = "security.openshift.io/disable-securitycontextconstraints"
"""Label of namespaces that SCC admission leaves out where it is "true"."""

POD_SECURITY = "pod-security.kubernetes.io/"
"""Prefix of a namespace's labels of the pod security standards: enforce, audit, warn."""
POD_SECURITY_SYNC = "security.openshift.io/scc.podSecurityLabelSync"
"""Label with which a namespace forbids OpenShift to set those labels by the SCCs of its accounts."""
NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""Label that the API server gives every namespace: its name."""

UNFIT = "hpc.pulumi/unfit"
"""Label of nodes that failed their test: why, in a word; set by `./hpc nodes --cordon` alone."""
SSH_FILES = "hpc.pulumi/ssh-file."
"""On pods that are reached by SSH, with the file's name: its content."""
SERVING_CERTIFICATES = "service.beta.openshift.io/serving-cert-secret-name"
"""On a Service: the Secret in which OpenShift puts certificates for its name."""
INJECT_CA = "service.beta.openshift.io/inject-cabundle"
"""On webhook configurations and others: OpenShift writes the CA of those certificates into them."""
QUEUE_NAME = "kueue.x-k8s.io/queue-name"
"""On a job: the LocalQueue that Kueue admits it from."""
KUEUE_MANAGED = "kueue.openshift.io/managed"
"""Label of namespaces whose jobs Red Hat's Kueue manages; in others it ignores the queue's name."""
NETWORKS = "k8s.v1.cni.cncf.io/networks"
"""On a pod: the secondary networks that it joins, as Multus reads it."""
CONSOLE_DASHBOARD = "console.openshift.io/dashboard"
"""Label of ConfigMaps that OpenShift's console shows as dashboards."""
CLUSTER_MONITORING = "openshift.io/cluster-monitoring"
"""Label of namespaces that the cluster's own Prometheus scrapes."""
PROJECT_NODE_SELECTOR = "openshift.io/node-selector"
"""On a namespace: what OpenShift adds to its pods' selectors in place of the cluster's default."""
SCHEDULER_NODE_SELECTOR = "scheduler.alpha.kubernetes.io/node-selector"
DEFAULT_TOLERATIONS = "scheduler.alpha.kubernetes.io/defaultTolerations"
"""The same of Kubernetes, and tolerations in JSON that it adds to a namespace's pods."""
WORKLOADS_ALLOWED = "workload.openshift.io/allowed"
"""On a namespace: which workloads of the cluster's own, such as management, its pods may be part of."""
NETWORK_CONFIG = "cluster"
"""Name of the one Network of config.openshift.io, whose status describes the pod network."""
INFRASTRUCTURE = "cluster"
"""Name of the one Infrastructure of config.openshift.io, whose status says where the control plane runs."""
PROXY = "cluster"
"""Name of the one Proxy of OpenShift's configuration."""
CLUSTER_VERSION = "version"
"""Name of the one ClusterVersion, whose status names the release of OpenShift."""

MPI_JOB_NAME, MPI_ROLE = "mpi_job_name", "mpi_role_type"
"""Labels of an MPIJob's pods in v1alpha2: the job, and launcher or worker."""
MPI_JOB_NAME_V2BETA1, MPI_ROLE_V2BETA1 = "training.kubeflow.org/job-name", "training.kubeflow.org/job-role"
"""The same in v2beta1."""
JOB_NAME = "job-name"
COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
"""Labels of the pods of a batch Job: the job, and the pod's index in it."""
JOBSET_NAME = "jobset.sigs.k8s.io/jobset-name"
"""Label of the pods of a JobSet: the JobSet, which of a TrainJob has the same name."""
LAUNCHER = "launcher"
"""Role of the pod that prints an MPIJob's results."""

SIMULATED = "simulated by hpc"
"""Prefix of every line that the simulated cluster adds to a program's output."""
LISTENER = "-listener"
"""Suffix of the RDMA test's other end, which prints only its bandwidth."""
NO_HOSTS = "no list of hosts, umad is for root here"
"""What the RDMA test prints in place of the list of ibhosts where umad devices belong to root, as on RHCOS."""


PART_OF = "hpc"
MANAGED_BY = "app.kubernetes.io/managed-by"
RECOMMENDED = ("app.kubernetes.io/name", "app.kubernetes.io/component", "app.kubernetes.io/part-of", MANAGED_BY)


def labels(name: str, component: str) -> dict[str, str]:
    """Return the app.kubernetes.io labels of an object that belongs to `name`, in the part called `component`."""
    return dict(zip(RECOMMENDED, (name, component, PART_OF, "pulumi"), strict=True))
