"""Settings of how GPUs are enabled on the nodes: one model for each way."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from components.base.model import DnsName, Image, Model
from components.gpu.compute_domain_driver import ComputeDomainDriver
from components.gpu.dcgm_exporter import DcgmExporterImage
from components.gpu.gpu_operator import GpuStack
from components.monitoring.alert_receivers import Routing
from components.monitoring.alerts import GpuThresholds, Thresholds
from components.operators.olm_operator import OlmSubscription
from core.apis.nccl import DirectFileSystem


class ExporterSettings(DcgmExporterImage, GpuThresholds):
    """A DCGM exporter of the stack, with alerts."""


class ExportedSettings(Model):
    """A way to GPUs that brings no exporter of their metrics, as the GPU Operator does."""

    exporter: ExporterSettings | None = Field(
        default=None,
        description="DCGM exporter of the stack; on OpenShift 4 the cluster's Prometheus scrapes it and evaluates the "
        "alerts, for 3.11 `./hpc render --dashboards` writes them for the site's own Prometheus",
    )


class SpecialResourceSettings(ExportedSettings):
    """The Special Resource Operator of 2020: driver, runtime hook and device plugin from its recipe."""

    enablement: Literal["special-resource-operator"]
    operator: OlmSubscription


class MonitoringSettings(Thresholds):
    """Monitoring of GPUs and ports."""

    dashboards: bool = Field(default=True, description="dashboards in the console, for administrators only")
    notify: Routing | None = Field(
        default=None,
        description="who gets these alerts from the cluster's own Alertmanager: `./hpc render --dashboards` writes "
        "its alertmanager.yaml, which you apply yourself; Secrets are those in namespace openshift-monitoring",
    )


class ComputeDomainSettings(ComputeDomainDriver):
    """NVIDIA's DRA driver for ComputeDomains. With `allocation: dra` the GPU Operator brings it."""


class GpuOperatorSettings(GpuStack):
    """The current GPU Operator. What GPUDirect needs from it follows from the fabric and the machines."""

    enablement: Literal["gpu-operator"]
    operator: OlmSubscription
    allocation: Literal["device-plugin", "dra"] = Field(
        default="device-plugin",
        description="how pods get GPUs: by nvidia.com/gpu, or by claims (dynamic resource allocation, OpenShift 4.21 "
        "and GPU Operator 26.7 or later). The operator serves one of the two in a cluster: a ClusterPolicy or a "
        "GPUCluster ([GPUs](../guide/gpus.md#by-claims))",
    )
    compute_domains: ComputeDomainSettings | None = Field(
        default=None,
        description="memory over NVLink between the nodes of an NVL72 rack: jobs of several pods there get a "
        "ComputeDomain. None: such nodes exchange data over the fabric alone",
    )
    gds_file_systems: dict[DnsName, DirectFileSystem] = Field(
        default={},
        description="with `gds`: storage class of the cluster -> its file system; for a class that is not listed, "
        "`./hpc hardware show` reports GPUDirect Storage as unknown",
    )
    monitoring: MonitoringSettings | None = Field(
        default=MonitoringSettings(),
        description="DCGM exporter, scraped by the cluster's Prometheus, alerts and dashboards; none by default where "
        "the operator is `installed`: who configures its exporter chooses the metrics",
    )

    @model_validator(mode="before")
    @classmethod
    def _monitored_by_others(cls, data: Any) -> Any:
        """Declare alerts and dashboards on an operator that is installed where they are requested."""
        operator = data.get("operator") if isinstance(data, dict) else None
        installed = operator.get("installed") if isinstance(operator, dict) else getattr(operator, "installed", False)
        return {"monitoring": None, **data} if installed is True else data

    @model_validator(mode="before")
    @classmethod
    def _one_exporter(cls, data: Any) -> Any:
        if isinstance(data, dict) and "exporter" in data:
            raise ValueError("exporter: the GPU Operator brings its own, which `monitoring` turns on; leave it out")
        return data


class DevicePluginSettings(ExportedSettings):
    """NVIDIA's device plugin alone; the driver is the host's."""

    enablement: Literal["device-plugin"]
    image: Image = Field(description="image of NVIDIA's device plugin")


GpuSettings = Annotated[
    SpecialResourceSettings | GpuOperatorSettings | DevicePluginSettings, Field(discriminator="enablement")
]
"""One of the ways to enable GPUs."""
