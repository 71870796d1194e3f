"""The Kubernetes and OpenShift kinds that the platform consists of, with those of `core.apis.operators`."""

from dataclasses import replace

from core.apis import operators
from core.apis.kind import Kind as Kind  # noqa: PLC0414 - the tables and their form are imported from one place
from core.apis.kind import Path as Path  # noqa: PLC0414

POD = Kind("", "v1", "Pod", "pods")
NODE = Kind("", "v1", "Node", "nodes", "Cluster")
EVENT = Kind("", "v1", "Event", "events")
NAMESPACE = Kind("", "v1", "Namespace", "namespaces", "Cluster")
CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps")
SECRET = Kind("", "v1", "Secret", "secrets")
SERVICE = Kind("", "v1", "Service", "services")
SERVICE_ACCOUNT = Kind("", "v1", "ServiceAccount", "serviceaccounts")
RESOURCE_QUOTA = Kind("", "v1", "ResourceQuota", "resourcequotas")
PERSISTENT_VOLUME = Kind("", "v1", "PersistentVolume", "persistentvolumes", "Cluster")
PERSISTENT_VOLUME_CLAIM = Kind("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims")
STORAGE_CLASS = Kind("storage.k8s.io", "v1", "StorageClass", "storageclasses", "Cluster")

_TEMPLATE: tuple[Path, ...] = (("spec", "template"),)
DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments", pod_templates=_TEMPLATE)
EARLY_DEPLOYMENT = Kind("extensions", "v1beta1", "Deployment", "deployments", pod_templates=_TEMPLATE)
EARLY_DAEMON_SET = Kind("extensions", "v1beta1", "DaemonSet", "daemonsets", pod_templates=_TEMPLATE)
"""As in OpenShift 3.11; gone in Kubernetes 1.16, and still found in files."""
REPLICA_SET = Kind("apps", "v1", "ReplicaSet", "replicasets", pod_templates=_TEMPLATE)
DAEMON_SET = Kind("apps", "v1", "DaemonSet", "daemonsets", pod_templates=_TEMPLATE)
STATEFUL_SET = Kind("apps", "v1", "StatefulSet", "statefulsets", pod_templates=_TEMPLATE)
REPLICATION_CONTROLLER = Kind("", "v1", "ReplicationController", "replicationcontrollers", pod_templates=_TEMPLATE)
DEPLOYMENT_CONFIG = Kind("apps.openshift.io", "v1", "DeploymentConfig", "deploymentconfigs", pod_templates=_TEMPLATE)
POD_TEMPLATE = Kind("", "v1", "PodTemplate", "podtemplates", pod_templates=(("template",),))
JOB = Kind("batch", "v1", "Job", "jobs", pod_templates=_TEMPLATE)
_JOB_TEMPLATE: tuple[Path, ...] = (("spec", "jobTemplate", "spec", "template"),)
CRON_JOB = Kind("batch", "v1", "CronJob", "cronjobs", other_versions=("v1beta1",), pod_templates=_JOB_TEMPLATE)
CRON_JOB_V1BETA1 = Kind("batch", "v1beta1", "CronJob", "cronjobs", other_versions=("v1",), pod_templates=_JOB_TEMPLATE)
"""As in OpenShift 3.11 and 4.4; v1 came in Kubernetes 1.21, and v1beta1 is gone in 1.25."""

ROLE = Kind("rbac.authorization.k8s.io", "v1", "Role", "roles")
ROLE_BINDING = Kind("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings")
CLUSTER_ROLE = Kind("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", "Cluster")
CLUSTER_ROLE_BINDING = Kind("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", "Cluster")
NETWORK_POLICY = Kind("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies")
CUSTOM_RESOURCE_DEFINITION = Kind(
    "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", "Cluster"
)

SECURITY_CONTEXT_CONSTRAINTS = Kind(
    "security.openshift.io", "v1", "SecurityContextConstraints", "securitycontextconstraints", "Cluster"
)
MACHINE_CONFIG = Kind("machineconfiguration.openshift.io", "v1", "MachineConfig", "machineconfigs", "Cluster")
MACHINE_CONFIG_POOL = Kind(
    "machineconfiguration.openshift.io", "v1", "MachineConfigPool", "machineconfigpools", "Cluster"
)
KUBELET_CONFIG = Kind("machineconfiguration.openshift.io", "v1", "KubeletConfig", "kubeletconfigs", "Cluster")
TUNED = Kind("tuned.openshift.io", "v1", "Tuned", "tuneds")
NODE_NETWORK_CONFIGURATION_POLICY = Kind(
    "nmstate.io", "v1", "NodeNetworkConfigurationPolicy", "nodenetworkconfigurationpolicies", "Cluster"
)
NODE_NETWORK_CONFIGURATION_ENACTMENT = Kind(
    "nmstate.io", "v1beta1", "NodeNetworkConfigurationEnactment", "nodenetworkconfigurationenactments", "Cluster"
)
NMSTATE = Kind("nmstate.io", "v1", "NMState", "nmstates", "Cluster")
OPERATOR_GROUP = Kind("operators.coreos.com", "v1", "OperatorGroup", "operatorgroups")
SUBSCRIPTION = Kind("operators.coreos.com", "v1alpha1", "Subscription", "subscriptions")
CLUSTER_SERVICE_VERSION = Kind("operators.coreos.com", "v1alpha1", "ClusterServiceVersion", "clusterserviceversions")
INSTALL_PLAN = Kind("operators.coreos.com", "v1alpha1", "InstallPlan", "installplans")
CATALOG_SOURCE = Kind(
    "operators.coreos.com", "v1alpha1", "CatalogSource", "catalogsources", images=(("spec", "image"),)
)

_OPERAND: tuple[Path, ...] = (("spec", "operand", "image"),)
NODE_FEATURE_DISCOVERY_V1ALPHA1 = Kind(
    "nfd.openshift.io",
    "v1alpha1",
    "NodeFeatureDiscovery",
    "nodefeaturediscoveries",
    other_versions=("v1",),
    images=_OPERAND,
)
NODE_FEATURE_DISCOVERY_V1 = Kind(
    "nfd.openshift.io",
    "v1",
    "NodeFeatureDiscovery",
    "nodefeaturediscoveries",
    other_versions=("v1alpha1",),
    images=_OPERAND,
)
SPECIAL_RESOURCE_V1ALPHA1 = Kind(
    "sro.openshift.io", "v1alpha1", "SpecialResource", "specialresources", other_versions=("v1beta1",)
)
CLUSTER_POLICY = Kind("nvidia.com", "v1", "ClusterPolicy", "clusterpolicies", "Cluster")
NVIDIA_DRIVER = Kind("nvidia.com", "v1alpha1", "NVIDIADriver", "nvidiadrivers", "Cluster")
GPU_CLUSTER = Kind("nvidia.com", "v1alpha1", "GPUCluster", "gpuclusters", "Cluster")
NIC_CLUSTER_POLICY = Kind("mellanox.com", "v1alpha1", "NicClusterPolicy", "nicclusterpolicies", "Cluster")
NIC_NODE_POLICY = Kind("mellanox.com", "v1alpha1", "NicNodePolicy", "nicnodepolicies", "Cluster")
MACVLAN_NETWORK = Kind("mellanox.com", "v1alpha1", "MacvlanNetwork", "macvlannetworks", "Cluster")
HOST_DEVICE_NETWORK = Kind("mellanox.com", "v1alpha1", "HostDeviceNetwork", "hostdevicenetworks", "Cluster")
RESOURCE_CLAIM_TEMPLATE = Kind("resource.k8s.io", "v1", "ResourceClaimTemplate", "resourceclaimtemplates")
DEVICE_CLASS = Kind("resource.k8s.io", "v1", "DeviceClass", "deviceclasses", "Cluster")
COMPUTE_DOMAIN = Kind("resource.nvidia.com", "v1beta1", "ComputeDomain", "computedomains")
CSI_SCALE_OPERATOR = Kind("csi.ibm.com", "v1", "CSIScaleOperator", "csiscaleoperators")
SCALE_CLUSTER = Kind("scale.spectrum.ibm.com", "v1beta1", "Cluster", "clusters", "Cluster")
SCALE_REMOTE_CLUSTER = Kind("scale.spectrum.ibm.com", "v1beta1", "RemoteCluster", "remoteclusters")
SCALE_FILE_SYSTEM = Kind("scale.spectrum.ibm.com", "v1beta1", "Filesystem", "filesystems")

NETWORK_CONFIG = Kind("config.openshift.io", "v1", "Network", "networks", "Cluster")
IMAGE_STREAM = Kind("image.openshift.io", "v1", "ImageStream", "imagestreams")
PROMETHEUS_RULE = Kind("monitoring.coreos.com", "v1", "PrometheusRule", "prometheusrules")
SERVICE_MONITOR = Kind("monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors")
ALERTMANAGER_CONFIG = Kind("monitoring.coreos.com", "v1beta1", "AlertmanagerConfig", "alertmanagerconfigs")
BUILD_CONFIG = Kind("build.openshift.io", "v1", "BuildConfig", "buildconfigs")
BUILD = Kind("build.openshift.io", "v1", "Build", "builds")

_REPLICAS: tuple[Path, ...] = (
    ("spec", "mpiReplicaSpecs", "Launcher", "template"),
    ("spec", "mpiReplicaSpecs", "Worker", "template"),
)
MPI_JOB_V1ALPHA2 = Kind(
    "kubeflow.org", "v1alpha2", "MPIJob", "mpijobs", other_versions=("v1", "v2beta1"), pod_templates=_REPLICAS
)
MPI_JOB_V1 = Kind(
    "kubeflow.org", "v1", "MPIJob", "mpijobs", other_versions=("v1alpha2", "v2beta1"), pod_templates=_REPLICAS
)
MPI_JOB_V2BETA1 = Kind(
    "kubeflow.org", "v2beta1", "MPIJob", "mpijobs", other_versions=("v1alpha2", "v1"), pod_templates=_REPLICAS
)

_REPLICATED: Path = ("spec", "replicatedJobs", "*", "template", "spec", "template")
JOB_SET = Kind("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets", pod_templates=(_REPLICATED,))
_RUNTIME: tuple[Path, ...] = (("spec", "template", *_REPLICATED),)
TRAINING_RUNTIME = Kind(
    "trainer.kubeflow.org", "v1alpha1", "TrainingRuntime", "trainingruntimes", pod_templates=_RUNTIME
)
CLUSTER_TRAINING_RUNTIME = Kind(
    "trainer.kubeflow.org",
    "v1alpha1",
    "ClusterTrainingRuntime",
    "clustertrainingruntimes",
    "Cluster",
    pod_templates=_RUNTIME,
)
TRAIN_JOB = Kind("trainer.kubeflow.org", "v1alpha1", "TrainJob", "trainjobs")
"""It has no pod template of its own: it patches and completes that of its runtime."""
_LEADER_AND_WORKERS: tuple[Path, ...] = tuple(
    ("spec", "leaderWorkerTemplate", template) for template in ("leaderTemplate", "workerTemplate")
)
LEADER_WORKER_SET = Kind(
    "leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets", pod_templates=_LEADER_AND_WORKERS
)

_OLD_KUEUE = ("v1beta1",)
RESOURCE_FLAVOR = Kind("kueue.x-k8s.io", "v1beta2", "ResourceFlavor", "resourceflavors", "Cluster", _OLD_KUEUE)
CLUSTER_QUEUE = Kind("kueue.x-k8s.io", "v1beta2", "ClusterQueue", "clusterqueues", "Cluster", _OLD_KUEUE)
LOCAL_QUEUE = Kind("kueue.x-k8s.io", "v1beta2", "LocalQueue", "localqueues", other_versions=_OLD_KUEUE)
TOPOLOGY = Kind("kueue.x-k8s.io", "v1beta2", "Topology", "topologies", "Cluster", (*_OLD_KUEUE, "v1alpha1"))
KUEUE = Kind("kueue.openshift.io", "v1", "Kueue", "kueues", "Cluster")

_REMEDIATION = "self-node-remediation.medik8s.io"
NODE_HEALTH_CHECK = Kind("remediation.medik8s.io", "v1alpha1", "NodeHealthCheck", "nodehealthchecks", "Cluster")
SELF_NODE_REMEDIATION_TEMPLATE = Kind(
    _REMEDIATION, "v1alpha1", "SelfNodeRemediationTemplate", "selfnoderemediationtemplates"
)
SELF_NODE_REMEDIATION_CONFIG = Kind(_REMEDIATION, "v1alpha1", "SelfNodeRemediationConfig", "selfnoderemediationconfigs")

KINDS: tuple[Kind, ...] = (
    *(value for value in list(globals().values()) if isinstance(value, Kind)),
    *operators.kinds(),
)

INFRASTRUCTURE = Kind("config.openshift.io", "v1", "Infrastructure", "infrastructures", "Cluster")
PROXY = Kind("config.openshift.io", "v1", "Proxy", "proxies", "Cluster")
CLUSTER_VERSION = Kind("config.openshift.io", "v1", "ClusterVersion", "clusterversions", "Cluster")
PACKAGE_MANIFEST = Kind("packages.operators.coreos.com", "v1", "PackageManifest", "packagemanifests")
"""What OpenShift says of itself and of OperatorHub; `./hpc init` reads it."""

SUBJECT_ACCESS_REVIEW = Kind("authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", "Cluster")
"""Whether a user may do something, which the server answers and does not store; `./hpc scc check` asks it."""

WORKLOAD = Kind("kueue.x-k8s.io", "v1beta2", "Workload", "workloads", other_versions=_OLD_KUEUE)
"""What Kueue has decided about a job; `./hpc status` reads it."""

SELF_NODE_REMEDIATION = Kind(_REMEDIATION, "v1alpha1", "SelfNodeRemediation", "selfnoderemediations")
"""One node that is being remedied; the Node Health Check Operator makes it of a template."""

CERTIFICATE = Kind("cert-manager.io", "v1", "Certificate", "certificates")
ISSUER = Kind("cert-manager.io", "v1", "Issuer", "issuers")
CERTIFICATE_REQUEST = Kind("cert-manager.io", "v1", "CertificateRequest", "certificaterequests")
"""Of cert-manager; operators ask for certificates, and `./hpc status` reads why one is not there."""

CLUSTER_RESOURCE_QUOTA = Kind("quota.openshift.io", "v1", "ClusterResourceQuota", "clusterresourcequotas", "Cluster")
LIMIT_RANGE = Kind("", "v1", "LimitRange", "limitranges")
ROUTE = Kind("route.openshift.io", "v1", "Route", "routes")
BINDING = Kind("", "v1", "Binding", "bindings")
RESOURCE_CLAIM = Kind("resource.k8s.io", "v1", "ResourceClaim", "resourceclaims")
COMPUTE_DOMAIN_CLIQUE = Kind("resource.nvidia.com", "v1beta1", "ComputeDomainClique", "computedomaincliques")
RESOURCE_SLICE = Kind("resource.k8s.io", "v1", "ResourceSlice", "resourceslices", "Cluster")
NETWORK_ATTACHMENT_DEFINITION = Kind(
    "k8s.cni.cncf.io", "v1", "NetworkAttachmentDefinition", "network-attachment-definitions"
)
MUTATING_WEBHOOK_CONFIGURATION = Kind(
    "admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", "Cluster"
)
MUTATING_ADMISSION_POLICY = Kind(
    "admissionregistration.k8s.io", "v1", "MutatingAdmissionPolicy", "mutatingadmissionpolicies", "Cluster"
)
"""Kinds that the platform does not declare, and that policies examine in the manifests of others."""

IMAGE_CONTENT_SOURCE_POLICY = Kind(
    "operator.openshift.io", "v1alpha1", "ImageContentSourcePolicy", "imagecontentsourcepolicies", "Cluster"
)
IMAGE_DIGEST_MIRROR_SET = Kind("config.openshift.io", "v1", "ImageDigestMirrorSet", "imagedigestmirrorsets", "Cluster")
IMAGE_TAG_MIRROR_SET = Kind("config.openshift.io", "v1", "ImageTagMirrorSet", "imagetagmirrorsets", "Cluster")
IMAGE_SET_CONFIGURATION = Kind("mirror.openshift.io", "v2alpha1", "ImageSetConfiguration", "imagesetconfigurations")
"""Where nodes find images of a registry that they do not reach, and what oc-mirror copies, which is not an object of a
cluster; `./hpc site` writes them."""
PROJECT = Kind("project.openshift.io", "v1", "Project", "projects", "Cluster")
"""A namespace, as OpenShift's own API shows it."""
FORMER_RBAC = tuple(
    replace(kind, group="authorization.openshift.io")
    for kind in (ROLE, ROLE_BINDING, CLUSTER_ROLE, CLUSTER_ROLE_BINDING)
)
"""Roles and bindings of the API that OpenShift had before Kubernetes, and still serves: it writes today's of them."""
RUNTIME_CLASS = Kind("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", "Cluster")
"""A name by which pods choose one of the runtimes that nodes have, its handler."""
PERFORMANCE_PROFILE = Kind("performance.openshift.io", "v2", "PerformanceProfile", "performanceprofiles", "Cluster")
"""Kernel arguments, tuning and the kubelet of a pool's nodes in one object; OpenShift makes the others of it."""
CLUSTER_NETWORK = Kind("operator.openshift.io", "v1", "Network", "networks", "Cluster")
"""What the Cluster Network Operator configures; it makes network definitions of additionalNetworks."""
TRAINING_OPERATOR_JOBS = tuple(
    Kind("kubeflow.org", "v1", kind, f"{kind.lower()}s")
    for kind in ("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob")
)
"""Jobs of Kubeflow's Training Operator, beside MPIJobs."""

NODE_NETWORK_STATE = Kind("nmstate.io", "v1beta1", "NodeNetworkState", "nodenetworkstates", "Cluster")
CONTAINER_RUNTIME_CONFIG = Kind(
    "machineconfiguration.openshift.io", "v1", "ContainerRuntimeConfig", "containerruntimeconfigs", "Cluster"
)
IMAGE_REGISTRY_CONFIG = Kind("imageregistry.operator.openshift.io", "v1", "Config", "configs", "Cluster")
API_REQUEST_COUNT = Kind("apiserver.openshift.io", "v1", "APIRequestCount", "apirequestcounts", "Cluster")
"""By which hazards of a site are found: interfaces of nodes, runtimes of pools, the registry, requests to each API."""

JOBS = (JOB.kind, MPI_JOB_V1.kind, JOB_SET.kind, TRAIN_JOB.kind)
"""Names of the kinds of jobs, of any version."""

_BY_NAME = {(kind.api_version, kind.kind): kind for kind in KINDS}


def find(api_version: str, kind: str) -> Kind | None:
    """Return the kind of a manifest, or None for one that the platform does not use."""
    return _BY_NAME.get((api_version, kind))
