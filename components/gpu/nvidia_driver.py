"""A driver of some nodes' GPUs: an NVIDIADriver of the GPU Operator, for clusters whose machines need several."""

from typing import Any, Self

import pulumi
from pydantic import Field, model_validator

from components.base import waits
from components.base.component import Component, CustomObject, cluster_wide
from components.base.model import DnsName, Model, Seconds
from components.base.scheduling import GPU_TAINT, LabelKey, LabelValue, Toleration
from components.base.timeouts import DEFAULTS
from components.gpu.gpu_operator import GDS, PRIORITY_CLASS, GpuDriver, GpuKind, GpuStack, driver_fields, unfit
from core.apis import kinds


class NvidiaDriverArgs(Model):
    """The driver of the nodes with some labels, of which no other NVIDIADriver may select any."""

    driver_name: DnsName = Field(description="name of the NVIDIADriver; cluster-wide")
    node_selector: dict[LabelKey, LabelValue] = Field(
        min_length=1, description="labels of its nodes, which they have before any driver"
    )
    driver: GpuDriver
    gpus: GpuKind
    gdrcopy: bool = Field(default=False, description="GDRCopy kernel module, as of the ClusterPolicy")
    gds: bool = Field(default=False, description="kernel module nvidia-fs, as of the ClusterPolicy")
    tolerations: tuple[Toleration, ...] = Field(default=(GPU_TAINT,), description="tolerations of the driver's pods")
    ready_timeout: Seconds = Field(
        default=DEFAULTS.driver, description="seconds; the driver is compiled on every node and validated"
    )

    @model_validator(mode="after")
    def _fits_the_gpu(self) -> Self:
        stack = GpuStack(driver=self.driver, gds=self.gds)
        if problems := [*unfit(stack, self.gpus.gpu, self.gpus.gpudirect)]:
            raise ValueError("; ".join(problems))
        return self


def spec(args: NvidiaDriverArgs) -> dict[str, Any]:
    """Return the `spec` of NVIDIADriver nvidia.com/v1alpha1."""
    return {
        "driverType": "gpu",
        "default": False,
        **driver_fields(args.driver, [args.gpus], gds=args.gds),
        "gdrcopy": {"enabled": args.gdrcopy},
        **({"gds": GDS} if args.gds else {}),
        "nodeSelector": args.node_selector,
        "priorityClassName": PRIORITY_CLASS,
        "tolerations": [toleration.manifest() for toleration in args.tolerations],
    }


class NvidiaDriver(Component):
    """An NVIDIADriver, which the operator acts on once a ClusterPolicy leaves the drivers to such objects.

    It waits for its pods, and those of the ClusterPolicy for its driver, so neither is declared after the other.
    Outputs: `nvidia_driver`, its name, known when the operator calls it ready: the driver runs on every node that it
    selects.
    """

    nvidia_driver: pulumi.Output[str]

    def __init__(self, name: str, args: NvidiaDriverArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpu:NvidiaDriver", name, args, opts)
        wait = waits.wait_for([waits.state_ready()], timeout=args.ready_timeout)
        metadata = cluster_wide(args.driver_name, "gpu", wait)
        driver = CustomObject(f"{name}-object", kinds.NVIDIA_DRIVER, metadata, {"spec": spec(args)}, self.child())
        self.outputs(nvidia_driver=driver.id.apply(lambda _: args.driver_name))
