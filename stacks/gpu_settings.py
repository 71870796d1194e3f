"""Settings of how nodes get their GPUs: one model for each way."""

from typing import Annotated, Literal

from pydantic import Field

from components.gpu_operator import GpuDriver, MigStrategy
from components.model import Image, Model
from components.olm_operator import OlmOperatorArgs


class SpecialResourceSettings(Model):
    """The Special Resource Operator, of 2020: driver, runtime hook and device plugin by its recipe (R-3.4.1-3)."""

    enablement: Literal["special-resource-operator"]
    operator: OlmOperatorArgs


class MonitoringSettings(Model):
    """What is watched of GPUs and ports (S-5)."""

    temperature: int = Field(default=85, gt=0, le=120, description="degrees Celsius of a GPU, above which it is said")
    low_use: int = Field(
        default=20, ge=0, le=100, description="percent, below which a pod's GPU counts as idle (S-5.7)"
    )
    dashboards: bool = Field(default=True, description="pages in the console")


class GpuOperatorSettings(Model):
    """The GPU Operator, of today. What GPUDirect needs of it follows from the fabric and the machines."""

    enablement: Literal["gpu-operator"]
    operator: OlmOperatorArgs
    driver: GpuDriver | None = Field(description="None: the nodes' image has the driver already")
    gdrcopy: bool = Field(default=False, description="kernel module for small copies by the CPU")
    mig: MigStrategy = Field(
        default="none",
        description="how slices of a GPU become resources (D-2.7): as nvidia.com/gpu (single), or as nvidia.com/mig-* "
        "(mixed), of which jobs, quotas and queues here know nothing. No GPU is divided before its node has the label "
        "nvidia.com/mig.config, which is set by hand; say with the node's `free_gpus` what stays whole",
    )
    monitoring: MonitoringSettings | None = Field(
        default=MonitoringSettings(), description="DCGM exporter, scraped by the cluster's Prometheus, alerts and pages"
    )


class DevicePluginSettings(Model):
    """NVIDIA's device plugin alone; the driver is the host's (S-7)."""

    enablement: Literal["device-plugin"]
    image: Image = Field(description="of NVIDIA's device plugin")


GpuSettings = Annotated[
    SpecialResourceSettings | GpuOperatorSettings | DevicePluginSettings, Field(discriminator="enablement")
]
"""One of the ways to enable GPUs."""
