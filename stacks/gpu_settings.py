"""Settings of how nodes get their GPUs: one model for each way."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from apis.gpudirect_storage import DirectFileSystem
from components.alert_receivers import Routing
from components.alerts import GpuThresholds, Thresholds
from components.dcgm_exporter import DcgmExporterImage
from components.gpu_operator import GpuStack
from components.model import DnsName, Image, Model
from components.olm_operator import OlmOperatorArgs


class ExporterSettings(DcgmExporterImage):
    """A DCGM exporter of our own, with alerts."""

    alerts: GpuThresholds = Field(default=GpuThresholds(), description="when alerts are raised")


class ExportedSettings(Model):
    """A way to GPUs that brings no exporter of their metrics, as the GPU Operator does."""

    exporter: ExporterSettings | None = Field(
        default=None,
        description="DCGM exporter of our own; on OpenShift 4 the cluster's Prometheus scrapes it and evaluates the "
        "alerts, of 3.11 `./hpc render --dashboards` writes them for a Prometheus of the site",
    )


class SpecialResourceSettings(ExportedSettings):
    """The Special Resource Operator, of 2020: driver, runtime hook and device plugin by its recipe (R-3.4.1-3)."""

    enablement: Literal["special-resource-operator"]
    operator: OlmOperatorArgs


class MonitoringSettings(Thresholds):
    """What is monitored of GPUs and ports (S-5)."""

    dashboards: bool = Field(default=True, description="dashboards in the console, for administrators alone")
    notify: Routing | None = Field(
        default=None,
        description="who gets these alerts from the cluster's own Alertmanager: `./hpc render --dashboards` writes its "
        "alertmanager.yaml, which nothing here applies; Secrets are those of openshift-monitoring",
    )


class GpuOperatorSettings(GpuStack):
    """The GPU Operator, of today. What GPUDirect needs of it follows from the fabric and the machines."""

    enablement: Literal["gpu-operator"]
    operator: OlmOperatorArgs
    gds_file_systems: dict[DnsName, DirectFileSystem] = Field(
        default={},
        description="with `gds`: file system of a storage class that the cluster has; a class without one is not known "
        "to have GPUDirect Storage, which `./hpc plan` says",
    )
    monitoring: MonitoringSettings | None = Field(
        default=MonitoringSettings(),
        description="DCGM exporter, scraped by the cluster's Prometheus, alerts and dashboards",
    )

    @model_validator(mode="before")
    @classmethod
    def _one_exporter(cls, data: Any) -> Any:
        if isinstance(data, dict) and "exporter" in data:
            raise ValueError("exporter: the GPU Operator brings its own, which `monitoring` turns on; leave it out")
        return data


class DevicePluginSettings(ExportedSettings):
    """NVIDIA's device plugin alone; the driver is the host's (S-7)."""

    enablement: Literal["device-plugin"]
    image: Image = Field(description="of NVIDIA's device plugin")


GpuSettings = Annotated[
    SpecialResourceSettings | GpuOperatorSettings | DevicePluginSettings, Field(discriminator="enablement")
]
"""One of the ways to enable GPUs."""
