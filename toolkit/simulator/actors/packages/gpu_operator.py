"""NVIDIA's GPU operator: simulated ones, and the last one that there is a real one of."""

from dataclasses import replace

from core.apis import kinds
from toolkit.engine.tools.versions import GPU_OPERATOR
from toolkit.simulator.access.rbac import OWN, READ, Rule
from toolkit.simulator.actors import images
from toolkit.simulator.actors.api import VALIDATING_POLICY, VALIDATING_POLICY_BINDING
from toolkit.simulator.actors.gpu_cluster_objects import OPERATOR_RULES
from toolkit.simulator.actors.gpu_controller import FILES, operator
from toolkit.simulator.actors.mig import MigManager
from toolkit.simulator.actors.package import (
    COMMON,
    FLAG,
    NUMBER,
    PRIVILEGED,
    TEXT,
    Bundle,
    Definition,
    Package,
    Published,
    exactly,
    list_of,
    operates,
    structure,
)

SECTIONS = ("dcgm", "dcgmExporter", "devicePlugin", "gfd", "nodeStatusExporter", "operator", "toolkit")
MODULE = {"type": "string", "enum": ["auto", "open", "proprietary"]}
RDMA = structure({"enabled": FLAG, "useHostMofed": FLAG})
_ROLES = (kinds.ROLE.group,)
_STATUS = {"type": "string", "enum": ["Ready", "NotReady"], "default": "NotReady"}
_DAEMON = exactly(
    {"nodeName": TEXT, "ipAddress": TEXT, "cliqueID": TEXT, "index": NUMBER, "status": _STATUS},
    *("nodeName", "ipAddress", "cliqueID"),
)
CLAIMS = (
    Definition(
        kinds.GPU_CLUSTER,
        structure({name: structure() for name in ("draDriver", "dcgm", "dcgmExporter", "daemonsets")}, "draDriver"),
        root={
            "x-kubernetes-validations": [
                {
                    "rule": "self.metadata.name == 'gpu-cluster'",
                    "message": "GPUCluster is a singleton, metadata.name must be 'gpu-cluster'",
                }
            ]
        },
    ),
    Definition(
        kinds.COMPUTE_DOMAIN,
        exactly(
            {
                "numNodes": {**NUMBER, "minimum": 0, "default": 0},
                "channel": exactly(
                    {
                        "allocationMode": {"type": "string", "enum": ["All", "Single"], "default": "Single"},
                        "resourceClaimTemplate": exactly({"name": TEXT}, "name"),
                    },
                    "resourceClaimTemplate",
                ),
            },
            "channel",
        )
        | {"x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "A computeDomain.spec is immutable"}]},
    ),
    Definition(
        kinds.COMPUTE_DOMAIN_CLIQUE,
        exactly(),
        root={"properties": {"daemons": list_of(_DAEMON)}},
    ),
)
"""What is new in 26.7; the definitions of ComputeDomains are those of NVIDIA's driver for claims, v0.5.0."""
BUNDLE = Bundle(
    versions=("gpu-operator-certified.v26.7.0",),
    definitions=(
        *CLAIMS,
        Definition(
            kinds.CLUSTER_POLICY,
            structure(
                {
                    **{name: structure({"enabled": FLAG}) for name in SECTIONS},
                    "driver": structure(
                        {
                            "enabled": FLAG,
                            "version": TEXT,
                            "useNvidiaDriverCRD": FLAG,
                            "kernelModuleType": MODULE,
                            "rdma": RDMA,
                        }
                    ),
                    "mig": structure({"strategy": {"type": "string", "enum": ["none", "single", "mixed"]}}),
                    "daemonsets": structure({"priorityClassName": TEXT}),
                },
                *("daemonsets", "dcgm", "dcgmExporter", "devicePlugin", "driver", "gfd"),
                *("nodeStatusExporter", "operator", "toolkit"),
            ),
        ),
        Definition(
            kinds.NVIDIA_DRIVER,
            structure(
                {
                    "default": FLAG,
                    "driverType": {"type": "string", "enum": ["gpu", "vgpu", "vgpu-host-manager"]},
                    "version": TEXT,
                    "kernelModuleType": MODULE,
                    "rdma": RDMA,
                    "nodeSelector": {"type": "object", "additionalProperties": TEXT},
                },
                *("driverType", "image"),
            ),
        ),
    ),
    account="gpu-operator",
    rules=(
        *COMMON,
        PRIVILEGED,
        *operates(kinds.CLUSTER_POLICY, kinds.NVIDIA_DRIVER),
        Rule(("",), ("nodes",), (*READ, "patch", "update")),
        Rule(("",), ("namespaces",), READ),
        # It gives the cluster's Prometheus the rights by which that finds the exporter.
        Rule(("",), ("services", "endpoints", "pods"), READ),
        Rule((kinds.SERVICE_MONITOR.group,), (kinds.SERVICE_MONITOR.plural,), OWN),
        *operates(kinds.GPU_CLUSTER),
        Rule(("",), ("namespaces",), (*READ, "patch")),
        Rule((kinds.SECURITY_CONTEXT_CONSTRAINTS.group,), (kinds.SECURITY_CONTEXT_CONSTRAINTS.plural,), OWN),
        Rule((VALIDATING_POLICY.group,), (VALIDATING_POLICY.plural, VALIDATING_POLICY_BINDING.plural), OWN),
        Rule((kinds.DEVICE_CLASS.group,), ("deviceclasses", "resourceclaimtemplates"), OWN),
        *OPERATOR_RULES,
    ),
    image="nvcr.io/nvidia/gpu-operator:v26.7.0",
    modes=frozenset({"OwnNamespace", "SingleNamespace"}),
)


def _earlier(version: str) -> Bundle:
    """Return the bundle of an earlier version, whose operands are those of the later one."""
    return replace(
        BUNDLE,
        versions=(f"gpu-operator-certified.v{version}",),
        definitions=tuple(definition for definition in BUNDLE.definitions if definition not in CLAIMS),
        image=f"nvcr.io/nvidia/gpu-operator:v{version}",
    )


REAL = Bundle(
    versions=(f"gpu-operator-certified.v{GPU_OPERATOR}",),
    definitions=tuple(
        Published(definition.kind, definition.spec, tool=FILES, file=f"nvidia.com_{definition.kind.plural}.yaml")
        for definition in BUNDLE.definitions
        if definition not in CLAIMS
    ),
    account="gpu-operator",
    # Those of its ClusterServiceVersion. What that gives it in its namespace alone it has everywhere, as all have here.
    rules=(
        *operates(kinds.CLUSTER_POLICY, kinds.NVIDIA_DRIVER),
        Rule((kinds.CLUSTER_POLICY.group,), ("clusterpolicies", "nvidiadrivers"), ("deletecollection",)),
        Rule((kinds.CLUSTER_VERSION.group,), ("clusterversions", "proxies"), READ),
        Rule((kinds.SECURITY_CONTEXT_CONSTRAINTS.group,), ("securitycontextconstraints",), (*OWN, "use")),
        Rule((kinds.IMAGE_STREAM.group,), ("imagestreams",), READ),
        Rule(_ROLES, ("clusterroles", "clusterrolebindings", "roles", "rolebindings"), OWN),
        Rule(("",), ("namespaces", "nodes"), (*READ, "update", "patch")),
        Rule(("",), ("pods/eviction",), ("create",)),
        Rule((kinds.DAEMON_SET.group,), ("daemonsets",), OWN),
        Rule((kinds.DAEMON_SET.group,), ("controllerrevisions",), READ),
        Rule((kinds.RUNTIME_CLASS.group,), ("runtimeclasses",), (*READ, "create", "update", "delete")),
        Rule((kinds.CUSTOM_RESOURCE_DEFINITION.group,), (kinds.CUSTOM_RESOURCE_DEFINITION.plural,), OWN),
        Rule(("",), ("configmaps", "endpoints", "secrets", "services", "services/finalizers"), OWN),
        Rule(("",), ("events", "pods", "serviceaccounts"), OWN),
        Rule(("coordination.k8s.io",), ("leases",), OWN),
        Rule((kinds.SERVICE_MONITOR.group,), ("servicemonitors", "prometheusrules"), OWN),
    ),
    image=f"nvcr.io/nvidia/gpu-operator:v{GPU_OPERATOR}",
    modes=frozenset({"OwnNamespace", "SingleNamespace"}),
)

PACKAGES = (
    Package(
        name="gpu-operator-certified",
        title="NVIDIA GPU Operator",
        sources=("certified-operators",),
        channels={
            "v26.7": BUNDLE,
            "stable": BUNDLE,
            "v26.3": _earlier("26.3.3"),
            "v25.10": _earlier("25.10.1"),
            "v25.3": REAL,
        },
    ),
)
ACTORS = ((images.GPU_OPERATORS, "", operator), (images.MIG_MANAGERS, "", MigManager))
