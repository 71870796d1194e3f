"""The GPU Operator's ClusterPolicy: driver, runtime hook, device plugin, monitoring (platform-facts 1.1)."""

from typing import Any, Literal, Self

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field, model_validator

from apis import kinds
from components import waits
from components.component import Component
from components.custom_resources import CustomObject
from components.labels import labels
from components.model import DnsName, Model, Seconds
from components.operand import ImageName, Operand, Repository
from components.tolerations import GPU_TAINT, Toleration
from hardware.gpus import ARCHITECTURES, Architecture, Gpu

PRIORITY_CLASS = "system-node-critical"

KernelModule = Literal["auto", "open", "proprietary"]
MigStrategy = Literal["none", "single", "mixed"]
_PEERMEM: Literal["nvidia-peermem"] = "nvidia-peermem"


class GpuDirect(Model):
    """How an HCA reaches the GPUs' memory."""

    mechanism: Literal["nvidia-peermem", "dma-buf"] = Field(
        description="dma-buf is the recommended one, and needs the open kernel module; nvidia-peermem needs "
        "Mellanox's own driver on the node. hardware.gpus has it by architecture"
    )
    host_ofed: bool = Field(
        default=False,
        description="for nvidia-peermem: that driver is the host's own; else the GPU driver waits for the network "
        "operator's on every node",
    )


class GpuDriver(Operand):
    """The driver in a container, built for each node's kernel."""

    repository: Repository = Field(default="nvcr.io/nvidia", description="registry and folder of the image")
    image: ImageName = Field(default="driver", description="name of the image in it")
    version: str = Field(
        pattern=r"^[0-9]{3}\.[0-9]{2,3}(\.[0-9]{2})?$",
        description="e.g. 580.95.05; the operator appends the system's name to the tag",
    )
    auto_upgrade: bool = Field(
        default=False,
        description="let the operator end the pods with GPUs, node by node, when the version changes; otherwise the "
        "new driver comes with each node's next restart of the driver's pod",
    )


class GpuOperatorArgs(Model):
    """The one ClusterPolicy of the cluster."""

    policy: DnsName = Field(default="gpu-cluster-policy", description="name; the one of the operator's own sample")
    gpu: Gpu = Field(description="of the hardware profile; decides which drivers and kernel modules will do")
    driver: GpuDriver | None = Field(description="None: the nodes' image has the driver already")
    gpudirect: GpuDirect | None = Field(default=None, description="None: HCAs do not reach the GPUs' memory")
    gdrcopy: bool = Field(default=False, description="kernel module for small copies by the CPU")
    mig: MigStrategy = Field(default="none", description="how slices of a GPU become resources (D-2.7)")
    monitoring: bool = Field(
        default=True,
        description="DCGM exporter with a ServiceMonitor; the operator's namespace needs the cluster-monitoring label",
    )
    tolerations: tuple[Toleration, ...] = Field(default=(GPU_TAINT,), description="of all the operator's DaemonSets")
    ready_timeout: Seconds = Field(
        default=3600, description="seconds; the driver is compiled on every node and validated"
    )

    @property
    def architecture(self) -> Architecture:
        """Generation of the GPUs."""
        return ARCHITECTURES[self.gpu.architecture]

    @model_validator(mode="after")
    def _fits_the_gpu(self) -> Self:
        known, version = self.architecture, self.driver.version if self.driver else None
        if version and not known.accepts_driver(version):
            raise ValueError(
                f"driver: version {version} does not know {self.gpu.model}; give one of branch {known.branches()}"
            )
        if version and kernel_module(self) == "open" and not known.accepts_driver(version, open_module=True):
            raise ValueError(
                f"driver: version {version} has no open kernel module, which dma-buf needs; give one of branch "
                f"{known.branches(open_module=True)}"
            )
        if self.gpudirect and (self.gpudirect.mechanism, known.peer_memory) == ("dma-buf", _PEERMEM):
            raise ValueError(f"gpudirect: {self.gpu.model} has no dma-buf; give mechanism {_PEERMEM}")
        if self.mig != "none" and not self.gpu.mig_instances:
            raise ValueError(f"mig: {self.gpu.model} cannot be divided; give none, not {self.mig}")
        return self


def kernel_module(args: GpuOperatorArgs) -> KernelModule:
    """Return driver.kernelModuleType: what the architecture or GPUDirect demands, else the operator's choice."""
    if args.architecture.kernel_module == "auto" and args.gpudirect and args.gpudirect.mechanism == "dma-buf":
        return "open"
    return args.architecture.kernel_module


def spec(args: GpuOperatorArgs) -> dict[str, Any]:
    """Return the `spec` of ClusterPolicy nvidia.com/v1.

    Images other than the driver's are the ones that the operator's bundle pins by digest.
    """
    return {
        "operator": {"runtimeClass": "nvidia", "use_ocp_driver_toolkit": True},
        "daemonsets": {
            "priorityClassName": PRIORITY_CLASS,
            "updateStrategy": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": "1"},
            "tolerations": [each.manifest() for each in args.tolerations],
        },
        "driver": _driver(args),
        "toolkit": {"enabled": True},
        "devicePlugin": {"enabled": True},
        "gfd": {"enabled": True},
        "gdrcopy": {"enabled": args.gdrcopy},
        "mig": {"strategy": args.mig},
        "migManager": {"enabled": args.mig != "none"},
        "dcgm": {"enabled": args.monitoring},
        "dcgmExporter": {"enabled": args.monitoring, "serviceMonitor": {"enabled": args.monitoring}},
        "nodeStatusExporter": {"enabled": args.monitoring},
        # A test workload would ask for a GPU, and wait for ever where jobs hold them all.
        "validator": {"plugin": {"env": [{"name": "WITH_WORKLOAD", "value": "false"}]}},
        "sandboxWorkloads": {"enabled": False},
    }


def _driver(args: GpuOperatorArgs) -> dict[str, Any]:
    if args.driver is None:
        return {"enabled": False}
    direct = args.gpudirect
    peermem = direct is not None and direct.mechanism == _PEERMEM
    return {
        "enabled": True,
        "repository": args.driver.repository,
        "image": args.driver.image,
        "version": args.driver.version,
        "kernelModuleType": kernel_module(args),
        "rdma": {"enabled": peermem, "useHostMofed": peermem and direct is not None and direct.host_ofed},
        "upgradePolicy": {"autoUpgrade": args.driver.auto_upgrade, "maxParallelUpgrades": 1},
    }


class GpuOperator(Component):
    """The ClusterPolicy, without which no node has nvidia.com/gpu.

    Outputs: `policy`, its name, known when the operator calls it ready: the driver runs on every node with a GPU.
    """

    policy: pulumi.Output[str]

    def __init__(self, name: str, args: GpuOperatorArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpu:GpuOperator", name, args, opts)
        policy = CustomObject(
            f"{name}-policy",
            kinds.CLUSTER_POLICY,
            k8s.meta.v1.ObjectMetaArgs(
                name=args.policy,
                labels=labels(args.policy, "gpu"),
                annotations=waits.wait_for(
                    # The state alone is `ready`, too, while no node has the labels of node feature discovery yet.
                    [
                        waits.equals(".status.state", "ready"),
                        waits.equals('.status.conditions[?(@.type=="Ready")].reason', "Reconciled"),
                    ],
                    timeout=args.ready_timeout,
                ),
            ),
            {"spec": spec(args)},
            self.child(),
        )
        self.outputs(policy=policy.id.apply(lambda _: args.policy))
