"""Which objects are a tenant's, and which the infrastructure's: its named parts, its namespaces, its nodes."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache

from pydantic import Field

from policies.manifests.part import Root
from policies.rule import Parameters
from policies.scc.rbac import GROUP, Subject

PARTS = (
    # Offers rdma/<name> at the kubelet's socket and finds the adapters on the host's network.
    "DaemonSet kube-system/rdma-shared-dp-ds",
    # Offers nvidia.com/gpu at the same socket.
    "DaemonSet kube-system/nvidia-device-plugin-daemonset",
    # Reads all GPUs, and at the kubelet's other socket which pod has which.
    "DaemonSet dcgm-exporter/dcgm-exporter",
    # Registers at the kubelet's sockets, and prepares IMEX channels for pods.
    "DaemonSet nvidia-dra-driver-gpu/nvidia-dra-driver-gpu-kubelet-plugin",
)

AGENTS = (
    "to exempt an agent of the platform, name its object in the parameter infrastructure of this rule "
    "or write an exception into policies/exceptions.yaml"
)
"""How the remedies of these rules end."""


class Infrastructure(Parameters):
    """Which objects are infrastructure."""

    infrastructure: tuple[str, ...] = Field(
        default=PARTS,
        description="objects that the rule lets pass, as findings name them, `*` matches any; "
        "default: the device plugins",
    )

    def excepts(self, subject: Root) -> bool:
        """Return whether an object is infrastructure."""
        return _matches(str(subject), self.infrastructure)


@lru_cache(maxsize=1024)
def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


TAINTS = (
    *("node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/infra"),
    *("node.kubernetes.io/unschedulable", "node.cloudprovider.kubernetes.io/*"),
)
"""Patterns of the taints of nodes that are not for tenants."""


def reached_taint(key: str, operator: str, effect: str, taints: Iterable[str]) -> str:
    """Return what a toleration reaches that is not for tenants, as the end of a sentence; empty when it is nothing."""
    if not key:
        of_effect = f" of effect {effect[:40]}" if effect else ""
        return f"every taint{of_effect}" if operator == "Exists" else ""
    named = any(fnmatchcase(key, pattern) for pattern in taints)
    return f"the taint {key[:200]} of nodes that are not for tenants" if named else ""


NAMESPACES = (
    *("kube-*", "openshift-*"),
    *("gpu-operator", "gpu-operator-resources", "nvidia-gpu-operator", "nvidia-network-operator", "network-operator"),
    *("dcgm-exporter", "nvidia-device-plugin", "nvidia-dra-driver-gpu"),
    *("cert-manager", "cert-manager-operator", "mpi-operator", "kueue-system", "jobset-system", "kubeflow-system"),
    *("ibm-spectrum-scale", "ibm-spectrum-scale-operator", "ibm-spectrum-scale-csi", "ibm-spectrum-scale-csi-driver"),
)
"""Namespaces of the infrastructure and of operators.

OpenShift refuses names of the two patterns to users, and the others are taken. A wider pattern is a way around: where
users make their own projects, one of them is called nvidia-mine.
"""
_ACCOUNT, _ACCOUNTS = "system:serviceaccount:", "system:serviceaccounts:"
TENANTS = (
    "to exempt an agent of the platform, name its namespace in the parameter exempt_namespaces of this rule, or its "
    "object in infrastructure"
)
"""How the remedies of these rules end."""


class Tenancy(Infrastructure):
    """Which objects and namespaces are infrastructure."""

    exempt_namespaces: tuple[str, ...] = Field(
        default=NAMESPACES, description="patterns of namespaces of the infrastructure; `*` matches any"
    )

    def excepts(self, subject: Root) -> bool:
        """Return whether an object is infrastructure."""
        return in_one_of(subject.namespace, self.exempt_namespaces) or super().excepts(subject)


@lru_cache(maxsize=1024)
def in_one_of(namespace: str, patterns: Iterable[str]) -> bool:
    """Return whether a namespace matches a pattern."""
    return any(fnmatchcase(namespace, pattern) for pattern in patterns)


def is_tenants(subject: Subject, exempt: Iterable[str]) -> bool:
    """Return whether a subject of a binding is an account of a tenant, or all of a namespace, by whatever name."""
    namespace = subject.namespace
    if subject.kind == GROUP:
        namespace = subject.name.removeprefix(_ACCOUNTS) if subject.name.startswith(_ACCOUNTS) else ""
    elif subject.name.startswith(_ACCOUNT):
        namespace = subject.name.removeprefix(_ACCOUNT).partition(":")[0]
    return bool(namespace) and not in_one_of(namespace, tuple(exempt))
