"""The kinds of the API groups that every Kubernetes has, by group (tests/core/apis/test_builtin.py).

Removed kinds are listed, too: LIVES has the last release that served them. Kinds of operators are in it by the release
whose operator no longer supports them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

_TABLE = """
- Binding ComponentStatus ConfigMap Endpoints Event LimitRange List Namespace Node PersistentVolume
- PersistentVolumeClaim Pod PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount
admissionregistration.k8s.io MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration
admissionregistration.k8s.io ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration
apiextensions.k8s.io CustomResourceDefinition
apiregistration.k8s.io APIService
apps ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet
authentication.k8s.io SelfSubjectReview TokenRequest TokenReview
authorization.k8s.io LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview
autoscaling HorizontalPodAutoscaler Scale
batch CronJob Job
certificates.k8s.io CertificateSigningRequest ClusterTrustBundle PodCertificateRequest
coordination.k8s.io Lease LeaseCandidate
discovery.k8s.io EndpointSlice
events.k8s.io Event
extensions DaemonSet Deployment Ingress NetworkPolicy PodSecurityPolicy ReplicaSet
flowcontrol.apiserver.k8s.io FlowSchema PriorityLevelConfiguration
networking.k8s.io IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR
node.k8s.io RuntimeClass
policy Eviction PodDisruptionBudget PodSecurityPolicy
rbac.authorization.k8s.io ClusterRole ClusterRoleBinding Role RoleBinding
resource.k8s.io DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceClass
resource.k8s.io ResourcePoolStatusRequest ResourceSlice
scheduling.k8s.io CompositePodGroup PodGroup PriorityClass Workload
storage.k8s.io CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass
storagemigration.k8s.io StorageVersionMigration
"""


def _read(table: str) -> dict[str, frozenset[str]]:
    kinds_of: dict[str, set[str]] = {}
    for group, *kinds in map(str.split, table.strip().splitlines()):
        kinds_of.setdefault(group.strip("-"), set()).update(kinds)
    return {group: frozenset(kinds) for group, kinds in kinds_of.items()}


BUILTIN: Mapping[str, frozenset[str]] = _read(_TABLE)
"""Kinds by group; the core API's group is empty."""
STABLE: Mapping[str, tuple[str, ...]] = dict.fromkeys(BUILTIN, ("v1",)) | {
    "autoscaling": ("v1", "v2"),
    "extensions": (),
}
"""The versions of a group that are neither alpha nor beta."""
OF_CLIENTS = frozenset({"Config", "Template"})
"""Kinds that no server knows: clients read or process them (kubeconfig, skaffold; `oc process`)."""


Release = tuple[int, int]


@dataclass(frozen=True)
class Life:
    """One version of some kinds of one group; `since` and `removed` are releases, None where it does not matter."""

    group: str
    version: str
    kinds: tuple[str, ...]
    removed: Release | None
    instead: str
    since: Release | None = None


_WORKLOADS = ("DaemonSet", "Deployment", "ReplicaSet")
_ROLES = ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
_WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_REVIEWS = ("LocalSubjectAccessReview", "SelfSubjectAccessReview", "SubjectAccessReview")
_CLAIMS = ("ResourceClaim", "ResourceClaimTemplate")
_FLOWS = ("FlowSchema", "PriorityLevelConfiguration")
_STORAGE = ("CSIDriver", "CSINode", "StorageClass", "VolumeAttachment")

LIVES: tuple[Life, ...] = (
    Life("extensions", "v1beta1", _WORKLOADS, (1, 16), "apps/v1"),
    Life("extensions", "v1beta1", ("NetworkPolicy",), (1, 16), "networking.k8s.io/v1"),
    Life("extensions", "v1beta1", ("PodSecurityPolicy",), (1, 16), "policy/v1beta1, gone in 1.25"),
    Life("extensions", "v1beta1", ("Ingress",), (1, 22), "networking.k8s.io/v1"),
    Life("apps", "v1beta1", ("ControllerRevision", "Deployment", "StatefulSet"), (1, 16), "apps/v1"),
    Life("apps", "v1beta2", (*_WORKLOADS, "ControllerRevision", "StatefulSet"), (1, 16), "apps/v1"),
    Life("admissionregistration.k8s.io", "v1beta1", _WEBHOOKS, (1, 22), "admissionregistration.k8s.io/v1"),
    Life("apiextensions.k8s.io", "v1beta1", ("CustomResourceDefinition",), (1, 22), "apiextensions.k8s.io/v1"),
    Life("apiregistration.k8s.io", "v1beta1", ("APIService",), (1, 22), "apiregistration.k8s.io/v1"),
    Life("authentication.k8s.io", "v1beta1", ("TokenReview",), (1, 22), "authentication.k8s.io/v1"),
    Life("authorization.k8s.io", "v1beta1", _REVIEWS, (1, 22), "authorization.k8s.io/v1"),
    Life("certificates.k8s.io", "v1beta1", ("CertificateSigningRequest",), (1, 22), "certificates.k8s.io/v1"),
    Life("coordination.k8s.io", "v1beta1", ("Lease",), (1, 22), "coordination.k8s.io/v1"),
    Life("networking.k8s.io", "v1beta1", ("Ingress", "IngressClass"), (1, 22), "networking.k8s.io/v1"),
    Life("rbac.authorization.k8s.io", "v1beta1", _ROLES, (1, 22), "rbac.authorization.k8s.io/v1"),
    Life("scheduling.k8s.io", "v1beta1", ("PriorityClass",), (1, 22), "scheduling.k8s.io/v1"),
    Life("storage.k8s.io", "v1beta1", _STORAGE, (1, 22), "storage.k8s.io/v1"),
    Life("batch", "v1beta1", ("CronJob",), (1, 25), "batch/v1"),
    Life("discovery.k8s.io", "v1beta1", ("EndpointSlice",), (1, 25), "discovery.k8s.io/v1"),
    Life("events.k8s.io", "v1beta1", ("Event",), (1, 25), "events.k8s.io/v1"),
    Life("autoscaling", "v2beta1", ("HorizontalPodAutoscaler",), (1, 25), "autoscaling/v2"),
    Life("policy", "v1beta1", ("PodDisruptionBudget",), (1, 25), "policy/v1"),
    Life("policy", "v1beta1", ("PodSecurityPolicy",), (1, 25), "an SCC or Pod Security admission"),
    Life("node.k8s.io", "v1beta1", ("RuntimeClass",), (1, 25), "node.k8s.io/v1"),
    Life("autoscaling", "v2beta2", ("HorizontalPodAutoscaler",), (1, 26), "autoscaling/v2"),
    Life("flowcontrol.apiserver.k8s.io", "v1beta1", _FLOWS, (1, 26), "flowcontrol.apiserver.k8s.io/v1"),
    Life("flowcontrol.apiserver.k8s.io", "v1beta2", _FLOWS, (1, 29), "flowcontrol.apiserver.k8s.io/v1"),
    Life("flowcontrol.apiserver.k8s.io", "v1beta3", _FLOWS, (1, 32), "flowcontrol.apiserver.k8s.io/v1"),
    Life("resource.k8s.io", "v1alpha1", _CLAIMS, (1, 27), "resource.k8s.io/v1"),
    Life("resource.k8s.io", "v1alpha1", ("ResourceClass",), (1, 27), "DeviceClass resource.k8s.io/v1"),
    Life("resource.k8s.io", "v1alpha2", (*_CLAIMS, "ResourceSlice"), (1, 31), "resource.k8s.io/v1"),
    Life("resource.k8s.io", "v1alpha2", ("ResourceClass",), (1, 31), "DeviceClass resource.k8s.io/v1"),
    Life("batch", "v1", ("CronJob",), None, "batch/v1beta1", since=(1, 21)),
    Life("policy", "v1", ("PodDisruptionBudget",), None, "policy/v1beta1", since=(1, 21)),
    Life("networking.k8s.io", "v1", ("Ingress", "IngressClass"), None, "networking.k8s.io/v1beta1", since=(1, 19)),
    Life("autoscaling", "v2", ("HorizontalPodAutoscaler",), None, "autoscaling/v1", since=(1, 23)),
    # Their definitions were apiextensions.k8s.io/v1beta1, and later operators have other versions.
    Life("kubeflow.org", "v1alpha1", ("MPIJob",), (1, 22), "kubeflow.org/v2beta1"),
    Life("kubeflow.org", "v1alpha2", ("MPIJob",), (1, 22), "kubeflow.org/v2beta1"),
    Life("nfd.openshift.io", "v1alpha1", ("NodeFeatureDiscovery",), (1, 22), "nfd.openshift.io/v1"),
    # The operator ended with OpenShift 4.12.
    Life("sro.openshift.io", "v1alpha1", ("SpecialResource",), (1, 25), "ClusterPolicy nvidia.com/v1"),
    Life("sro.openshift.io", "v1beta1", ("SpecialResource",), (1, 25), "ClusterPolicy nvidia.com/v1"),
)
