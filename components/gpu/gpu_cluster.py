"""The GPU Operator's GPUCluster: GPUs by dynamic resource allocation, in the place of a ClusterPolicy.

The operator acts on one object of either kind, and refuses a GPUCluster beside a ClusterPolicy. Drivers come by
NVIDIADriver objects or are the nodes' own. Source: NVIDIA/gpu-operator v26.7.0, controllers/gpucluster_controller.go
and config/crd/bases/nvidia.com_gpuclusters.yaml.
"""

from typing import Any

import pulumi
from pydantic import Field

from components.base import waits
from components.base.component import Component, CustomObject, cluster_wide
from components.base.model import Seconds
from components.base.timeouts import DEFAULTS
from components.gpu.gpu_operator import PRIORITY_CLASS, GpuKind, GpuOperands, GpuStack
from core.apis import kinds

NAME = "gpu-cluster"
"""The definition allows no other name."""
FIRST_DRIVER_BRANCH = 580
"""Oldest branch of the GPU driver that NVIDIA's DRA driver works with (cloud-native-docs, dra-intro-install)."""


class GpuClusterArgs(GpuOperands):
    """The one GPUCluster of the cluster."""

    gpus: tuple[GpuKind, ...] = Field(min_length=1, description="kinds of GPUs of its nodes")
    compute_domains: bool = Field(
        default=False, description="also serve ComputeDomains: memory over NVLink between the nodes of a rack"
    )
    ready_timeout: Seconds = Field(
        default=DEFAULTS.driver, description="seconds until the driver's kubelet plugins run on every node with a GPU"
    )


def refused(stack: GpuStack) -> list[str]:
    """Return what of a stack's settings a GPUCluster does not serve; every problem starts with the field."""
    problems = []
    if stack.mig != "none":
        problems.append(
            f"mig {stack.mig}: a GPUCluster has no MIG manager (cloud-native-docs, capabilities); set none, or "
            "allocation device-plugin"
        )
    if stack.driver and int(stack.driver.version.split(".")[0]) < FIRST_DRIVER_BRANCH:
        problems.append(
            f"driver.version {stack.driver.version}: allocation dra needs branch {FIRST_DRIVER_BRANCH} or later; give "
            "one, or set allocation device-plugin"
        )
    return problems


def spec(args: GpuClusterArgs) -> dict[str, Any]:
    """Return the `spec` of GPUCluster nvidia.com/v1alpha1.

    Its images are those that the operator's bundle pins. With labels and UIDs of pods the exporter looks at
    ResourceSlices to say which pod has a GPU; without, it knows device plugins alone.
    """
    exporter = {
        "enabled": args.monitoring,
        "enablePodLabels": args.monitoring,
        "enablePodUID": args.monitoring,
        "serviceMonitor": {"enabled": args.monitoring},
        **({"config": {"name": args.metrics}} if args.metrics else {}),
    }
    return {
        "daemonsets": {
            "priorityClassName": PRIORITY_CLASS,
            "updateStrategy": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": "1"},
            "tolerations": [toleration.manifest() for toleration in args.tolerations],
        },
        "draDriver": {"computeDomains": {"enabled": args.compute_domains}},
        "dcgm": {"enabled": args.monitoring},
        "dcgmExporter": exporter,
    }


class GpuCluster(Component):
    """The GPUCluster, without which no node has ResourceSlices of its GPUs.

    Outputs: `gpu_cluster`, its name, known when the operator calls it ready: the plugins run on every node with a GPU.
    """

    gpu_cluster: pulumi.Output[str]

    def __init__(self, name: str, args: GpuClusterArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpu:GpuCluster", name, args, opts)
        if args.installed:
            self.outputs(gpu_cluster=pulumi.Output.from_input(NAME))
            return
        wait = waits.wait_for([waits.state_ready(), waits.condition("Ready")], timeout=args.ready_timeout)
        metadata = cluster_wide(NAME, "gpu", wait)
        cluster = CustomObject(f"{name}-cluster", kinds.GPU_CLUSTER, metadata, {"spec": spec(args)}, self.child())
        self.outputs(gpu_cluster=cluster.id.apply(lambda _: NAME))
