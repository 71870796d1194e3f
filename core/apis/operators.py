"""What several rooms must know of the operators from OperatorHub.

Reviews take from it what an upgrade or a removal does, `./hpc status` the state of its object, settings the
subscription, and `core.apis.kinds` the kind. Declarations are named tuples, as every command imports them: the classes
of data models take longer to define.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from core.apis.kind import Kind

OPERATOR_HUB = (1, 13)
"""Kubernetes version of OpenShift 4.1, the first release with OperatorHub."""


class Upgrade(NamedTuple):
    """What an upgrade of the operator does to nodes and jobs, as reviews word it."""

    consequence: str
    """A clause; `{nodes}` stands for the nodes that it is about."""
    nodes: Literal["every node", "GPUs", "RDMA devices"] = "every node"
    """Nodes with which devices, or every node."""
    jobs: bool = False
    """Whether jobs lose devices by it."""


class Instance(NamedTuple):
    """The one object that makes the operator install its controller."""

    kind: Kind
    condition: str = "Available"
    """Status condition that is True when the controller is installed."""
    removal: str = ""
    """What the deletion of the object takes with it, as reviews word it; a clause."""


class Recommended(NamedTuple):
    """How its documentation subscribes to the operator; a setting of the same name overrides each."""

    namespace: str
    source: str = "redhat-operators"
    own_namespace_only: bool = True
    channels: Mapping[str, str] = MappingProxyType({})
    """Name of an OpenShift release -> channel; the setting is required for releases that are not in it."""
    kubernetes: tuple[int, int] = OPERATOR_HUB
    """First Kubernetes version that the operator supports."""


class Operator(NamedTuple):
    """One operator, by its package in the catalogue."""

    package: str
    upgrade: Upgrade
    recommended: Recommended | None = None
    """For operators that `operators` of the settings installs; others have settings of their own."""
    instance: Instance | None = None
    """None: it starts by itself, or `core.apis.kinds` has its kind."""
    clusterwide: bool = False
    """Whether its only install mode is AllNamespaces."""
    api_groups: tuple[str, ...] = ()
    """Groups of its kinds: where it is installed, in whatever way, the cluster serves one of them."""
    images: tuple[str, ...] = ()
    """Names of its controller's image, without registry and folder, in its distributions."""
    beside: str = ""
    """Key of the operator whose namespace and OperatorGroup it shares where both have the same namespace."""
    numbered_channels: bool = False
    """Whether a channel whose name ends in a minor version, such as v26.3, has versions 26.3.z alone."""


def _workload_availability() -> Recommended:
    """Return how Red Hat documents the operators of Workload Availability: minKubeVersion as in their bundles."""
    return Recommended(
        namespace="openshift-workload-availability",
        own_namespace_only=False,
        channels=dict.fromkeys(("4.18", "4.19", "4.20", "4.21", "4.22"), "stable"),
        kubernetes=(1, 25),
    )


JOB_SET_OPERATOR = Kind("operator.openshift.io", "v1", "JobSetOperator", "jobsetoperators", "Cluster")

OPERATORS: Mapping[str, Operator] = {
    # cert-manager, Red Hat's: it starts by itself, and Kueue's and JobSet's operators wait for its kinds.
    "cert_manager": Operator(
        package="openshift-cert-manager-operator",
        api_groups=("cert-manager.io",),
        images=("cert-manager-controller",),
        recommended=Recommended(
            namespace="cert-manager-operator", own_namespace_only=False, channels={"4.20": "stable-v1"}
        ),
        upgrade=Upgrade("certificates that are due meanwhile are renewed when it is back"),
    ),
    # NVIDIA's GPU Operator.
    "gpu_operator": Operator(
        package="gpu-operator-certified",
        api_groups=("nvidia.com",),
        images=("gpu-operator",),
        upgrade=Upgrade(
            "GPU drivers and device plugins start again, node by node, on {nodes}: jobs there lose their GPUs",
            "GPUs",
            True,
        ),
        numbered_channels=True,
    ),
    # JobSet, Red Hat's: several Jobs that start, fail and restart as one; Kubeflow Trainer builds on it.
    #
    # Package, channels and modes as in the operator's own catalogues (openshift/jobset-operator, branch fbc, 316c034e);
    # kind, condition and ownership as in its code (f9d991e0, manifests/ and
    # pkg/operator/target_config_reconciler.go). It starts nothing before cert-manager.io/v1 is served. The catalogues
    # of 4.18 to 4.21 also have tech-preview-v0.1, whose version calls the object Available before the controller runs.
    "jobset": Operator(
        package="job-set",
        api_groups=("jobset.x-k8s.io",),
        images=("jobset",),
        recommended=Recommended(
            namespace="openshift-jobset-operator",
            channels=dict.fromkeys(("4.18", "4.19", "4.20", "4.21", "4.22"), "stable-v1.0"),
            kubernetes=(1, 31),
        ),
        instance=Instance(
            JOB_SET_OPERATOR,
            removal="the definition of JobSet goes with it, and so do all JobSets of the cluster, with their jobs",
        ),
        upgrade=Upgrade(
            "its controller starts again: jobs that run go on; meanwhile new JobSets are refused, and failed ones stay "
            "so"
        ),
        numbered_channels=True,
    ),
    # Kueue, Red Hat's build.
    "kueue": Operator(
        package="kueue-operator",
        api_groups=("kueue.x-k8s.io",),
        images=("kueue",),
        upgrade=Upgrade("Kueue starts again: jobs that run go on, new ones wait until it is back"),
        # By the bundle of 1.0.1: openshift/kueue-operator, 5e9866c7, installModes.
        clusterwide=True,
        numbered_channels=True,
    ),
    # NVIDIA's Network Operator.
    "network_operator": Operator(
        package="nvidia-network-operator",
        api_groups=("mellanox.com",),
        images=("network-operator",),
        upgrade=Upgrade(
            "network drivers and RDMA device plugins start again, node by node, on {nodes}: jobs there lose their "
            "network",
            "RDMA devices",
            True,
        ),
        numbered_channels=True,
    ),
    # Kubernetes NMState, Red Hat's.
    "nmstate": Operator(
        package="kubernetes-nmstate-operator",
        api_groups=("nmstate.io",),
        images=("kubernetes-nmstate-operator",),
        upgrade=Upgrade(
            "its handlers start again on {nodes} and apply the declared network again: who manages it differently cuts "
            "nodes off"
        ),
    ),
    # Node Health Check, Red Hat's: it finds nodes that are lost, and has another operator remedy them.
    #
    # Package, channel, namespace and modes as in the operator's bundle (medik8s/node-healthcheck-operator, dd444329,
    # bundle/) and in Red Hat's documentation (Workload Availability for OpenShift, Remediation, fencing, and
    # maintenance), which has both operators in one namespace.
    "node_health_check": Operator(
        package="node-healthcheck-operator",
        api_groups=("remediation.medik8s.io",),
        images=("node-healthcheck-operator", "node-healthcheck-rhel9-operator"),
        clusterwide=True,
        recommended=_workload_availability(),
        upgrade=Upgrade("a node that is lost meanwhile is found when it is back"),
    ),
    # Node Feature Discovery, Red Hat's.
    "node_feature_discovery": Operator(
        package="nfd",
        api_groups=("nfd.openshift.io", "nfd.k8s-sigs.io"),
        images=("node-feature-discovery", "cluster-nfd-operator"),
        upgrade=Upgrade(
            "its pods start again on {nodes} and label them again: what is placed by labels of a name that the new "
            "version does not give starts no more"
        ),
    ),
    # IBM Spectrum Scale CSI.
    "scale_csi": Operator(
        package="ibm-spectrum-scale-csi-operator",
        api_groups=("csi.ibm.com",),
        images=("ibm-spectrum-scale-csi-operator", "ibm-storage-scale-csi-operator"),
        upgrade=Upgrade(
            "the driver's pods start again on {nodes}: mounted volumes stay, pods that start meanwhile wait for theirs"
        ),
    ),
    # Self Node Remediation, Red Hat's: nodes restart themselves, and their pods are freed.
    #
    # As above: medik8s/self-node-remediation, 640aac50, bundle/ and install/.
    "self_node_remediation": Operator(
        package="self-node-remediation",
        api_groups=("self-node-remediation.medik8s.io",),
        images=("self-node-remediation-operator", "self-node-remediation-rhel9-operator"),
        clusterwide=True,
        beside="node_health_check",
        recommended=_workload_availability(),
        upgrade=Upgrade(
            "its agents, privileged pods that restart a lost node, start again on {nodes}: one that is lost meanwhile "
            "is remedied when they are back"
        ),
    ),
    # Special Resource Operator, of 2020.
    "special_resource": Operator(
        package="special-resource-operator",
        upgrade=Upgrade(
            "the drivers that it builds start again, node by node, on {nodes}: jobs there lose their GPUs",
            "GPUs",
            True,
        ),
    ),
}
"""By the name of their setting, of those that `operators` of the settings installs; each package once."""


def kinds() -> tuple[Kind, ...]:
    """Return the kinds of the operators' instances."""
    return tuple(operator.instance.kind for operator in OPERATORS.values() if operator.instance)


_MINOR = re.compile(r"(?:^|[-.])v?(\d+)\.(\d+)$")
_NUMBER = re.compile(r"\d+")


def numbered(package: str, channel: str) -> str:
    """Return a regular expression for names of ClusterServiceVersions of a channel that names their minor version.

    For channel v26.3 it matches `gpu-operator-certified.v26.3.1`. Empty where the name of the channel promises nothing.
    It is valid in Python and as RFC 9485 has it.
    """
    declared = next((operator for operator in OPERATORS.values() if operator.package == package), None)
    minor = _MINOR.search(channel) if declared is not None and declared.numbered_channels else None
    return f"[.]v?{minor[1]}[.]{minor[2]}[.]" if minor else ""


def is_later(version: str, than: str) -> bool:
    """Whether a ClusterServiceVersion of a package is a later one than another of it, by the numbers in their names."""
    return _numbers(version) > _numbers(than)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, _NUMBER.findall(version.partition(".")[2])))
