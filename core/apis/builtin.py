"""The kinds of the API groups that every Kubernetes has, by group (tests/core/apis/test_builtin.py).

Removed kinds are listed, too: `core.apis.api_lifecycle` has the last release that served them.
"""

from collections.abc import Mapping

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
