"""NVIDIA's GPU operator."""

from dataclasses import replace

from core.apis import kinds
from toolkit.simulator.access.rbac import OWN, READ, Rule
from toolkit.simulator.actors import images
from toolkit.simulator.actors.gpu_operator import GpuOperator
from toolkit.simulator.actors.mig import MigManager
from toolkit.simulator.actors.package import (
    COMMON,
    FLAG,
    PRIVILEGED,
    TEXT,
    Bundle,
    Definition,
    Package,
    operates,
    structure,
)

SECTIONS = ("dcgm", "dcgmExporter", "devicePlugin", "gfd", "nodeStatusExporter", "operator", "toolkit")
MODULE = {"type": "string", "enum": ["auto", "open", "proprietary"]}
RDMA = structure({"enabled": FLAG, "useHostMofed": FLAG})
BUNDLE = Bundle(
    versions=("gpu-operator-certified.v26.7.0",),
    definitions=(
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
    ),
    image="nvcr.io/nvidia/gpu-operator:v26.7.0",
    modes=frozenset({"OwnNamespace", "SingleNamespace"}),
)
EARLIER = replace(BUNDLE, versions=("gpu-operator-certified.v25.10.1",), image="nvcr.io/nvidia/gpu-operator:v25.10.1")
"""Its operands are those of the later one."""

PACKAGES = (
    Package(
        name="gpu-operator-certified",
        title="NVIDIA GPU Operator",
        sources=("certified-operators",),
        channels={"v26.7": BUNDLE, "stable": BUNDLE, "v25.10": EARLIER},
    ),
)
ACTORS = ((images.GPU_OPERATORS, "", GpuOperator), (images.MIG_MANAGERS, "", MigManager))
