"""Identities of the parts of an OpenShift cluster that the actors simulate, and exactly what each may do.

The bootstrap of a simulated cluster applies `manifests()` and writes one kubeconfig per identity, called `name`.
Operators that come through OLM are not here: their accounts and roles are in the catalogue, and OLM makes them.
"""

from dataclasses import dataclass

from core.apis import kinds
from toolkit.simulator.manifests import Manifest, manifest

READ = ("get", "list", "watch")
OWN = (*READ, "create", "update", "patch", "delete")


@dataclass(frozen=True)
class Rule:
    """One rule of a role: these verbs on these resources of these API groups, of the named objects if any are named."""

    groups: tuple[str, ...]
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    names: tuple[str, ...] = ()

    def manifest(self) -> Manifest:
        """Return the rule as a ClusterRole has it."""
        rule: Manifest = {
            "apiGroups": list(self.groups),
            "resources": list(self.resources),
            "verbs": list(self.verbs),
        }
        return rule | ({"resourceNames": list(self.names)} if self.names else {})


@dataclass(frozen=True)
class Identity:
    """Who a simulated part of the cluster is: a user, or a service account when `namespace` is set."""

    name: str
    account: str
    rules: tuple[Rule, ...]
    namespace: str | None = None

    @property
    def user(self) -> str:
        """The user name that the API server sees."""
        return f"system:serviceaccount:{self.namespace}:{self.account}" if self.namespace else self.account

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that the API server sees besides system:authenticated."""
        return ("system:serviceaccounts", f"system:serviceaccounts:{self.namespace}") if self.namespace else ()

    @property
    def role(self) -> str:
        """Name of the ClusterRole and of its binding."""
        return f"hpc-sim:{self.name}"


KUBELET = Identity(
    name="kubelet",
    account="system:kwok-kubelet",
    rules=(
        Rule(("",), ("nodes", "pods"), (*READ, "patch")),
        Rule(("",), ("nodes/status", "pods/status"), ("update", "patch")),
        Rule(("",), ("pods",), ("delete",)),
        Rule(("",), ("configmaps", "secrets", "persistentvolumes", "persistentvolumeclaims"), READ),
        Rule((kinds.NETWORK_CONFIG.group,), (kinds.NETWORK_CONFIG.plural,), READ),
        Rule((kinds.RESOURCE_CLAIM.group,), (kinds.RESOURCE_CLAIM.plural,), ("get",)),
        Rule((kinds.RESOURCE_SLICE.group,), (kinds.RESOURCE_SLICE.plural,), ("list", "delete")),
        Rule(("",), ("serviceaccounts",), READ),
        Rule(("",), ("serviceaccounts/token",), ("create",)),
        Rule(("", "events.k8s.io"), ("events",), ("create", "update", "patch")),
        Rule(("coordination.k8s.io",), ("leases",), OWN),
        Rule(("kwok.x-k8s.io",), ("logs",), OWN),
    ),
)

# The real one has every right, as it gives operators what their bundles ask for (deploy/chart/templates of OLM).
OLM = Identity(
    name="olm",
    namespace="openshift-operator-lifecycle-manager",
    account="olm-operator-serviceaccount",
    rules=(Rule(("*",), ("*",), ("*",)),),
)
PACKAGE_SERVER = Identity(
    name="package-server",
    namespace="openshift-operator-lifecycle-manager",
    account="packageserver",
    rules=(
        Rule((kinds.CATALOG_SOURCE.group,), (kinds.CATALOG_SOURCE.plural,), READ),
        Rule((kinds.PACKAGE_MANIFEST.group,), (kinds.PACKAGE_MANIFEST.plural,), OWN),
    ),
)

MACHINE_CONFIG = Identity(
    name="machine-config",
    namespace="openshift-machine-config-operator",
    account="machine-config-controller",
    rules=(
        Rule((kinds.MACHINE_CONFIG.group,), ("machineconfigs", "machineconfigpools"), OWN),
        Rule((kinds.MACHINE_CONFIG.group,), ("kubeletconfigs",), READ),
        Rule(
            (kinds.MACHINE_CONFIG.group,), ("machineconfigpools/status", "kubeletconfigs/status"), ("update", "patch")
        ),
        Rule(("",), ("nodes",), (*READ, "patch")),
        Rule(("",), ("pods",), READ),
        # A node is drained before it changes.
        Rule(("",), ("pods/eviction",), ("create",)),
    ),
)

BUILDS = Identity(
    name="builds",
    namespace="openshift-infra",
    account="build-controller",
    rules=(
        Rule((kinds.BUILD.group,), ("buildconfigs", "builds"), OWN),
        Rule((kinds.BUILD.group,), ("buildconfigs/status", "builds/status"), ("update", "patch")),
        Rule((kinds.IMAGE_STREAM.group,), ("imagestreams",), READ),
        Rule((kinds.IMAGE_STREAM.group,), ("imagestreams/status",), ("update", "patch")),
    ),
)

NAMESPACE_SECURITY = Identity(
    name="namespace-security-allocation",
    namespace="openshift-infra",
    account="namespace-security-allocation-controller",
    rules=(Rule(("",), ("namespaces",), (*READ, "patch")),),
)

MULTUS = Identity(
    name="multus",
    namespace="openshift-multus",
    account="multus",
    rules=(Rule(("k8s.cni.cncf.io",), ("network-attachment-definitions",), READ),),
)

# OpenShift's plugin is a part of the API server and sees everything; simulated outside of it, it needs read access.
SCC_ADMISSION = Identity(
    name="scc-admission",
    account="system:hpc-sim:scc-admission",
    rules=(
        Rule(("",), ("namespaces",), ("get",)),
        Rule((kinds.SECURITY_CONTEXT_CONSTRAINTS.group,), (kinds.SECURITY_CONTEXT_CONSTRAINTS.plural,), ("list",)),
        Rule((kinds.CLUSTER_ROLE.group,), ("roles", "rolebindings", "clusterroles", "clusterrolebindings"), ("list",)),
    ),
)

SIM_FILES = Identity(
    name="sim-files",
    account="system:hpc-sim:sim-files",
    rules=(
        Rule(("",), ("persistentvolumes",), (*READ, "create", "delete")),
        Rule(("",), ("persistentvolumeclaims",), READ),
        Rule((kinds.STORAGE_CLASS.group,), (kinds.STORAGE_CLASS.plural,), READ),
    ),
)

SERVICE_CA = Identity(
    name="service-ca",
    namespace="openshift-service-ca",
    account="service-ca",
    rules=(
        Rule(("",), ("services",), READ),
        Rule(("",), ("secrets",), ("create",)),
        Rule(
            (kinds.MUTATING_WEBHOOK_CONFIGURATION.group,),
            ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"),
            (*READ, "patch"),
        ),
    ),
)

# In the place of kube-proxy on the control plane's nodes.
SERVICE_NETWORK = Identity(
    name="service-network",
    account="system:hpc-sim:service-network",
    rules=(
        Rule(("",), ("services",), ("list",)),
        Rule(("discovery.k8s.io",), ("endpointslices",), ("list",)),
    ),
)

_MONITORING = "openshift-monitoring"
PROMETHEUS_OPERATOR = Identity(
    name="prometheus-operator",
    namespace=_MONITORING,
    account="prometheus-operator",
    rules=(
        Rule(("",), ("namespaces",), READ),
        Rule((kinds.PROMETHEUS_RULE.group,), (kinds.PROMETHEUS_RULE.plural, kinds.SERVICE_MONITOR.plural), READ),
    ),
)
# It finds exporters with what roles in their namespaces give it, and nothing else.
PROMETHEUS = Identity(name="prometheus-k8s", namespace=_MONITORING, account="prometheus-k8s", rules=())
KUBE_STATE_METRICS = Identity(
    name="kube-state-metrics",
    namespace=_MONITORING,
    account="kube-state-metrics",
    rules=(Rule(("",), (kinds.RESOURCE_QUOTA.plural,), READ),),
)

IDENTITIES: tuple[Identity, ...] = (
    *(KUBELET, OLM, PACKAGE_SERVER, MACHINE_CONFIG, BUILDS, NAMESPACE_SECURITY, MULTUS),
    *(SCC_ADMISSION, SIM_FILES, SERVICE_CA, SERVICE_NETWORK),
    *(PROMETHEUS_OPERATOR, PROMETHEUS, KUBE_STATE_METRICS),
)


def cluster_role(name: str, rules: tuple[Rule, ...]) -> Manifest:
    """Return a ClusterRole of these rules."""
    return manifest(kinds.CLUSTER_ROLE, name, rules=[rule.manifest() for rule in rules])


def use_scc(*names: str) -> Rule:
    """Return the rule that lets pods of an account run under these security context constraints."""
    scc = kinds.SECURITY_CONTEXT_CONSTRAINTS
    return Rule((scc.group,), (scc.plural,), ("use",), names)


def cluster_role_binding(name: str, subject: Manifest) -> Manifest:
    """Return a binding of the ClusterRole of the same name to `subject`."""
    role = {"apiGroup": kinds.CLUSTER_ROLE.group, "kind": kinds.CLUSTER_ROLE.kind, "name": name}
    return manifest(kinds.CLUSTER_ROLE_BINDING, name, roleRef=role, subjects=[subject])


def account_subject(namespace: str, name: str) -> Manifest:
    """Return a service account as the subject of a binding."""
    return {"kind": "ServiceAccount", "namespace": namespace, "name": name}


def manifests() -> list[Manifest]:
    """Return what the bootstrap applies for all identities, accounts before their bindings.

    The namespaces of the service accounts must be there already.
    """
    made: list[Manifest] = []
    for identity in IDENTITIES:
        subject: Manifest = {"kind": "User", "apiGroup": kinds.CLUSTER_ROLE.group, "name": identity.account}
        if identity.namespace:
            made.append(manifest(kinds.SERVICE_ACCOUNT, identity.account, identity.namespace))
            subject = account_subject(identity.namespace, identity.account)
        made.append(cluster_role(identity.role, identity.rules))
        made.append(cluster_role_binding(identity.role, subject))
    return made
