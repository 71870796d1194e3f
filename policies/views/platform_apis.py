"""API groups in which an object changes nodes, admission, queues or rights, and not only its own namespace.

Whoever may write one has what the controller that reads it has: root on nodes, or every right on the API.
"""

from collections.abc import Mapping
from typing import NamedTuple

RBAC = "rbac.authorization.k8s.io"
_NODES = "the operating system of nodes"
_NETWORKS = "the networks and adapters of nodes"
_DEVICES = "how devices are given"
_ADMISSION = "what admission checks"
_OPERATORS = "which operators are installed, with what rights"
_CLUSTER = "the cluster's own configuration"
_QUEUES = "quotas of queues, and which jobs are admitted"
_STORAGE = "which storage, and what of nodes, volumes are"
_APPLIED = "what a controller applies with rights of its own"
_IDENTITY = "which user it is"


class Area(NamedTuple):
    """What changing a group's resources means; `only` are those that count, all but `besides` where there are none."""

    meaning: str
    besides: frozenset[str] = frozenset()
    only: frozenset[str] = frozenset()

    def has(self, resource: str) -> bool:
        """Return whether a resource counts."""
        return resource in self.only if self.only else resource not in self.besides


def _areas(meaning: str, *groups: str) -> dict[str, Area]:
    return dict.fromkeys(groups, Area(meaning))


PLATFORM: Mapping[str, Area] = {
    **_areas(_NODES, "machineconfiguration.openshift.io", "tuned.openshift.io", "performance.openshift.io"),
    **_areas(_NODES, "machine.openshift.io", "metal3.io", "cluster.x-k8s.io", "hypershift.openshift.io"),
    **_areas(_NODES, "kmm.sigs.x-k8s.io", "sro.openshift.io", "node.k8s.io", "upgrade.cattle.io"),
    **_areas(_NODES, "kataconfiguration.openshift.io", "security-profiles-operator.x-k8s.io", "maintenance.nvidia.com"),
    **_areas(_NETWORKS, "sriovnetwork.openshift.io", "mellanox.com", "nmstate.io", "network.openshift.io"),
    **_areas(_NETWORKS, "policy.networking.k8s.io", "metallb.io", "k8s.cni.cncf.io", "configuration.net.nvidia.com"),
    **_areas(_DEVICES, "nvidia.com", "nfd.k8s-sigs.io", "nfd.openshift.io", "amd.com", "deviceplugin.intel.com"),
    "resource.k8s.io": Area(_DEVICES, frozenset({"resourceclaims", "resourceclaimtemplates", "podschedulingcontexts"})),
    **_areas(_ADMISSION, "admissionregistration.k8s.io", "policies.kyverno.io", "templates.gatekeeper.sh"),
    **_areas(_ADMISSION, "constraints.gatekeeper.sh", "mutations.gatekeeper.sh", "config.gatekeeper.sh"),
    "kyverno.io": Area(_ADMISSION, frozenset({"policies", "policyreports"})),
    **_areas("what the API is", "apiextensions.k8s.io", "apiregistration.k8s.io", "flowcontrol.apiserver.k8s.io"),
    **_areas(_OPERATORS, "operators.coreos.com", "olm.operatorframework.io", "addon.open-cluster-management.io"),
    **_areas(_CLUSTER, "config.openshift.io", "operator.openshift.io", "imageregistry.operator.openshift.io"),
    **_areas(
        _CLUSTER, "ingress.operator.openshift.io", "network.operator.openshift.io", "samples.operator.openshift.io"
    ),
    **_areas(_CLUSTER, "cloudcredential.openshift.io", "security.internal.openshift.io", "hive.openshift.io"),
    "security.openshift.io": Area("SCCs", only=frozenset({"securitycontextconstraints"})),
    "policy": Area("which pods may be privileged", only=frozenset({"podsecuritypolicies"})),
    "quota.openshift.io": Area("its quota", frozenset({"appliedclusterresourcequotas"})),
    **_areas(_QUEUES, "kueue.x-k8s.io", "kueue.openshift.io"),
    **_areas("whose pods displace others", "scheduling.k8s.io"),
    "trainer.kubeflow.org": Area("what others' jobs run", only=frozenset({"clustertrainingruntimes"})),
    "serving.kserve.io": Area("what others' jobs run", only=frozenset({"clusterservingruntimes"})),
    "kubevirt.io": Area(_DEVICES, only=frozenset({"kubevirts"})),
    "hco.kubevirt.io": Area(_DEVICES),
    **_areas(
        _STORAGE, "storage.k8s.io", "local.storage.openshift.io", "lvm.topolvm.io", "hostpathprovisioner.kubevirt.io"
    ),
    **_areas(_STORAGE, "csi.ibm.com", "scale.spectrum.ibm.com"),
    "snapshot.storage.k8s.io": Area(_STORAGE, frozenset({"volumesnapshots"})),
    **_areas(_IDENTITY, "user.openshift.io"),
    "oauth.openshift.io": Area(_IDENTITY, frozenset({"useroauthaccesstokens"})),
    "certificates.k8s.io": Area(_IDENTITY, frozenset({"certificatesigningrequests"})),
    **_areas(_APPLIED, "work.open-cluster-management.io", "policy.open-cluster-management.io"),
    **_areas(_APPLIED, "velero.io", "oadp.openshift.io"),
    **_areas(_APPLIED, "kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io"),
}
"""What it means to change objects of each group."""

_NAMES: Mapping[str, tuple[str, ...]] = {
    "machineconfiguration.openshift.io": ("machineconfigs", "machineconfigpools", "kubeletconfigs", "machineosconfigs"),
    "tuned.openshift.io": ("tuneds",),
    "performance.openshift.io": ("performanceprofiles",),
    "machine.openshift.io": ("machinesets",),
    "hypershift.openshift.io": ("nodepools", "hostedclusters"),
    "kmm.sigs.x-k8s.io": ("modules",),
    "node.k8s.io": ("runtimeclasses",),
    "sriovnetwork.openshift.io": ("sriovnetworknodepolicies",),
    "mellanox.com": ("nicclusterpolicies", "hostdevicenetworks"),
    "k8s.cni.cncf.io": ("network-attachment-definitions",),
    "nmstate.io": ("nodenetworkconfigurationpolicies",),
    "nvidia.com": ("clusterpolicies", "nvidiadrivers"),
    "nfd.k8s-sigs.io": ("nodefeatures", "nodefeaturerules"),
    "resource.k8s.io": ("resourceslices", "deviceclasses"),
    "admissionregistration.k8s.io": (
        *("mutatingwebhookconfigurations", "validatingwebhookconfigurations", "mutatingadmissionpolicies"),
        *("validatingadmissionpolicies", "validatingadmissionpolicybindings"),
    ),
    "apiextensions.k8s.io": ("customresourcedefinitions",),
    "apiregistration.k8s.io": ("apiservices",),
    "operators.coreos.com": ("subscriptions", "operatorgroups", "catalogsources", "clusterserviceversions"),
    "security.openshift.io": ("securitycontextconstraints",),
    "quota.openshift.io": ("clusterresourcequotas",),
    "kueue.x-k8s.io": ("clusterqueues", "localqueues", "workloads", "resourceflavors"),
    "scheduling.k8s.io": ("priorityclasses",),
    "trainer.kubeflow.org": ("clustertrainingruntimes",),
    "storage.k8s.io": ("storageclasses", "csidrivers"),
    "work.open-cluster-management.io": ("manifestworks",),
}
NAMES: Mapping[str, str] = {name: PLATFORM[group].meaning for group, names in _NAMES.items() for name in names}
"""What it means to change resources that are known by their names alone, for rules on every group."""

CHANGED: Mapping[tuple[str, str], str] = {
    ("", "resourcequotas"): "its quota",
    ("", "limitranges"): "its limits",
    ("", "bindings"): "the node of a pod",
    ("", "pods/binding"): "the node of a pod",
    ("", "nodes"): "the taints and labels of nodes, and what they offer",
    ("", "persistentvolumes"): "which folders of nodes are volumes",
    ("", "serviceaccounts/token"): "which account it is",
    ("", "namespaces"): "the labels and annotations of a namespace",
    ("certificates.k8s.io", "certificatesigningrequests/approval"): _IDENTITY,
    ("certificates.k8s.io", "certificatesigningrequests/status"): _IDENTITY,
    ("resource.k8s.io", "resourceclaims/status"): "which devices a claim has",
    ("resource.k8s.io", "resourceclaims/binding"): "which devices a claim has",
    ("resource.k8s.io", "resourceclaims/driver"): "which devices a claim has",
    ("build.openshift.io", "builds/custom"): "what runs in privileged builders",
}
"""What it means to change single resources; of one without a slash every subresource counts, too."""

VERBS: Mapping[str, frozenset[tuple[str, str]]] = {
    "escalate": frozenset({(RBAC, "roles"), (RBAC, "clusterroles")}),
    "bind": frozenset({(RBAC, "roles"), (RBAC, "clusterroles")}),
    "impersonate": frozenset(
        {("", "users"), ("", "groups"), ("", "serviceaccounts"), ("authentication.k8s.io", "uids")}
        | {("authentication.k8s.io", "userextras")}
    ),
    "approve": frozenset({("certificates.k8s.io", "signers")}),
    "sign": frozenset({("certificates.k8s.io", "signers")}),
}
"""Verb -> groups and resources on which it gives rights that its holder has not."""
