"""The GPU Operator's ClusterPolicy: driver, runtime hook, device plugin, monitoring."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, Self

import pulumi
from pydantic import Field, model_validator

from components.base import waits
from components.base.component import Component, CustomObject, cluster_wide
from components.base.model import DnsName, ImageName, Installable, Model, Operand, Repository, Seconds
from components.base.scheduling import GPU_TAINT, Toleration
from components.base.timeouts import DEFAULTS
from core.apis import kinds
from core.hardware.gpus import ARCHITECTURES, Gpu

PRIORITY_CLASS = "system-node-critical"

GPUS_PAST_THE_PLUGIN = (
    "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED",
    "ACCEPT_NVIDIA_VISIBLE_DEVICES_AS_VOLUME_MOUNTS",
)
"""What the toolkit is not to take from containers: GPUs that they name themselves."""

DRIVER_VERSION = r"^[0-9]{3}\.[0-9]{2,3}(\.[0-9]{2})?$"
KernelModule = Literal["auto", "open", "proprietary"]
MigStrategy = Literal["none", "single", "mixed"]
_PEERMEM: Literal["nvidia-peermem"] = "nvidia-peermem"


class GpuDirect(Model):
    """How an HCA reaches the GPUs' memory."""

    mechanism: Literal["nvidia-peermem", "dma-buf"] = Field(
        description="dma-buf is the recommended one, and needs the open kernel module; nvidia-peermem needs "
        "Mellanox's own driver on the node. core.hardware.gpus has it by architecture"
    )
    host_ofed: bool = Field(
        default=False,
        description="for nvidia-peermem: that driver is the host's own; else the GPU driver waits for the network "
        "operator's on every node",
    )


class GpuDriver(Operand):
    """The driver in a container, built for each node's kernel."""

    repository: Repository = Field(default="nvcr.io/nvidia", description="registry and path of the image")
    image: ImageName = Field(default="driver", description="image name below `repository`")
    version: str = Field(
        pattern=DRIVER_VERSION, description="e.g. 580.95.05; the operator appends the operating system to the tag"
    )
    auto_upgrade: bool = Field(
        default=False,
        description="let the operator delete GPU pods, node by node, when the version changes; otherwise each node "
        "gets the new driver when its driver pod next restarts",
    )


class GpuStack(Model):
    """What the operator installs on nodes, as settings and the component have it."""

    policy: DnsName = Field(
        default="gpu-cluster-policy",
        description="name of the ClusterPolicy; the default is that of the console's sample. The operator acts on one "
        "alone, so an existing one is named",
    )
    driver: GpuDriver | None = Field(description="None: the nodes' image has the driver already")
    gdrcopy: bool = Field(default=False, description="GDRCopy kernel module, for small copies by the CPU")
    gds: bool = Field(
        default=False,
        description="GPUDirect Storage: kernel module nvidia-fs, with which GPUs read files bypassing CPU "
        "memory. It needs the driver's open kernel module, which older GPUs do not support",
    )
    mig: MigStrategy = Field(
        default="none",
        description="how MIG instances become resources: as nvidia.com/gpu (single), or as nvidia.com/mig-* "
        "(mixed). No GPU is divided before its node has the label nvidia.com/mig.config: `mig` of a node sets it, and "
        "with mixed, jobs request an `instance`. With a label set manually, the node's `free_gpus` gives the GPUs "
        "that stay whole",
    )


class GpuKind(Model):
    """One kind of GPU of the cluster."""

    gpu: Gpu = Field(description="of the machine; decides which drivers and kernel modules will do")
    gpudirect: GpuDirect | None = Field(default=None, description="None: HCAs do not reach the GPUs' memory")


class GpuOperands(Installable):
    """What the operator runs on nodes, by a ClusterPolicy as by a GPUCluster."""

    monitoring: bool = Field(
        default=True,
        description="DCGM exporter with a ServiceMonitor; the operator's namespace needs the cluster-monitoring label",
    )
    metrics: DnsName | None = Field(
        default=None, description="ConfigMap with the exporter's list of metrics; None: the exporter's default list"
    )
    tolerations: tuple[Toleration, ...] = Field(
        default=(GPU_TAINT,), description="tolerations of all the operator's DaemonSets"
    )


class GpuOperatorArgs(GpuOperands, GpuStack):
    """The one ClusterPolicy of the cluster."""

    gpus: tuple[GpuKind, ...] = Field(min_length=1, description="kinds of GPUs that it configures")
    driver_objects: bool = Field(
        default=False,
        description="NVIDIADriver objects bring the drivers, each to nodes of its own; `driver` is None then",
    )
    ready_timeout: Seconds = Field(
        default=DEFAULTS.driver, description="seconds; the driver is compiled on every node and validated"
    )

    @model_validator(mode="after")
    def _fits_the_gpu(self) -> Self:
        problems_by_gpu = [problem for kind in self.gpus for problem in unfit(self, kind.gpu, kind.gpudirect)]
        if problems := [*dict.fromkeys(problems_by_gpu), *undivided(self, [kind.gpu for kind in self.gpus])]:
            raise ValueError("; ".join(problems))
        if self.driver_objects and self.driver:
            raise ValueError(
                f"driver.version {self.driver.version}: with driver_objects the ClusterPolicy brings none; leave it out"
            )
        return self


def unfit(stack: GpuStack, gpu: Gpu, gpudirect: GpuDirect | None) -> Iterator[str]:
    """Yield what of the stack these GPUs do not support; every problem starts with the field."""
    architecture, version = ARCHITECTURES[gpu.architecture], stack.driver.version if stack.driver else None
    if version and not architecture.accepts_driver(version):
        yield f"driver.version {version} does not support {gpu.model}; give one of branch {architecture.branches()}"
    elif (
        version
        and kernel_module(gpu, gpudirect, gds=stack.gds) == "open"
        and not architecture.accepts_driver(version, open_module=True)
    ):
        why = "which GPUDirect Storage needs" if stack.gds else f"by which adapters reach {gpu.model} (GPUDirect)"
        yield (
            f"driver.version {version} has no open kernel module, {why}; "
            f"give one of branch {architecture.branches(open_module=True)}"
        )
    if stack.gds and architecture.kernel_module == "proprietary":
        yield (
            f"gds true: {gpu.model} is too old for the driver's open kernel module, which GPUDirect Storage needs; set "
            "it to false"
        )
    if gpudirect and (gpudirect.mechanism, architecture.peer_memory) == ("dma-buf", _PEERMEM):
        yield f"gpudirect: {gpu.model} has no dma-buf; give mechanism {_PEERMEM}"


def undivided(stack: GpuStack, gpus: Sequence[Gpu]) -> Iterator[str]:
    """Yield why GPUs cannot be divided as the stack says: with mixed some kind must, with single all."""
    whole = [gpu.model for gpu in gpus if not gpu.mig_instances]
    if stack.mig != "none" and whole and (stack.mig == "single" or len(whole) == len(gpus)):
        yield f"mig {stack.mig}: {' and '.join(dict.fromkeys(whole))} cannot be divided; give none"


def kernel_module(gpu: Gpu, gpudirect: GpuDirect | None, *, gds: bool = False) -> KernelModule:
    """Return driver.kernelModuleType: what the architecture or GPUDirect demands, else the operator's choice."""
    architecture = ARCHITECTURES[gpu.architecture]
    if architecture.kernel_module == "auto" and (gds or (gpudirect and gpudirect.mechanism == "dma-buf")):
        return "open"
    return architecture.kernel_module


GDS = {"enabled": True, "repository": "nvcr.io/nvidia/cloud-native", "image": "nvidia-fs", "version": "2.29.4"}
"""The one operand whose image the bundle for OpenShift does not pin: without it the operator's driver fails with `empty
image path`. This is the chart's of v26.7.0; `extra` gives another version."""


def spec(args: GpuOperatorArgs) -> dict[str, Any]:
    """Return the `spec` of ClusterPolicy nvidia.com/v1.

    Images other than those of the driver and of GDS are the ones that the operator's bundle pins by digest.
    """
    return {
        "operator": {"runtimeClass": "nvidia", "use_ocp_driver_toolkit": True},
        "daemonsets": {
            "priorityClassName": PRIORITY_CLASS,
            "updateStrategy": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": "1"},
            "tolerations": [toleration.manifest() for toleration in args.tolerations],
        },
        "driver": _driver(args),
        # GPUs come by CDI, from the device plugin. The toolkit's default gives every GPU of the node to an image
        # that sets NVIDIA_VISIBLE_DEVICES=all, under the runtime class nvidia, which any pod may name. The operator's
        # own pods are privileged and keep theirs (NVIDIA/gpu-operator v26.7.0, controllers/object_controls.go).
        "cdi": {"enabled": True},
        "toolkit": {"enabled": True, "env": [{"name": name, "value": "false"} for name in GPUS_PAST_THE_PLUGIN]},
        "devicePlugin": {"enabled": True},
        "gfd": {"enabled": True},
        "gdrcopy": {"enabled": args.gdrcopy},
        **({"gds": GDS} if args.gds else {}),
        "mig": {"strategy": args.mig},
        "migManager": {"enabled": args.mig != "none"},
        "dcgm": {"enabled": args.monitoring},
        "dcgmExporter": {
            "enabled": args.monitoring,
            "serviceMonitor": {"enabled": args.monitoring},
            **({"config": {"name": args.metrics}} if args.metrics else {}),
        },
        "nodeStatusExporter": {"enabled": args.monitoring},
        # A test workload would ask for a GPU, and wait for ever where jobs hold them all.
        "validator": {"plugin": {"env": [{"name": "WITH_WORKLOAD", "value": "false"}]}},
        "sandboxWorkloads": {"enabled": False},
    }


def _driver(args: GpuOperatorArgs) -> dict[str, Any]:
    if args.driver_objects:
        return {"enabled": True, "useNvidiaDriverCRD": True}
    if args.driver is None:
        return {"enabled": False}
    return {"enabled": True, **driver_fields(args.driver, args.gpus, gds=args.gds)}


def driver_fields(driver: GpuDriver, gpus: Sequence[GpuKind], *, gds: bool) -> dict[str, Any]:
    """Return what a ClusterPolicy and an NVIDIADriver call the same: image, kernel module, RDMA and upgrades."""
    direct = next((kind.gpudirect for kind in gpus if kind.gpudirect and kind.gpudirect.mechanism == _PEERMEM), None)
    modules = {kernel_module(kind.gpu, kind.gpudirect, gds=gds) for kind in gpus}
    return {
        "repository": driver.repository,
        "image": driver.image,
        "version": driver.version,
        "kernelModuleType": _module_for_all(modules),
        "rdma": {"enabled": direct is not None, "useHostMofed": direct is not None and direct.host_ofed},
        "upgradePolicy": {"autoUpgrade": driver.auto_upgrade, "maxParallelUpgrades": 1},
    }


def _module_for_all(modules: set[KernelModule]) -> KernelModule:
    """Return the module that all kinds of GPUs take; of kinds that need different ones the operator chooses by node."""
    if len(modules) == 1:
        return next(iter(modules))
    return "auto" if "proprietary" in modules else "open"


class GpuOperator(Component):
    """The ClusterPolicy, without which no node has nvidia.com/gpu.

    Outputs: `policy`, its name, known when the operator calls it ready: the driver runs on every node with a GPU.
    """

    policy: pulumi.Output[str]

    def __init__(self, name: str, args: GpuOperatorArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpu:GpuOperator", name, args, opts)
        if args.installed:
            self.outputs(policy=pulumi.Output.from_input(args.policy))
            return
        # The state alone is `ready`, too, while no node has the labels of node feature discovery yet.
        reconciled = waits.equals('.status.conditions[?(@.type=="Ready")].reason', "Reconciled")
        wait = waits.wait_for([waits.state_ready(), reconciled], timeout=args.ready_timeout)
        metadata = cluster_wide(args.policy, "gpu", wait)
        policy = CustomObject(f"{name}-policy", kinds.CLUSTER_POLICY, metadata, {"spec": spec(args)}, self.child())
        self.outputs(policy=policy.id.apply(lambda _: args.policy))
