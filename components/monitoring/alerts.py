"""Alerts about GPUs and adapters, as rules of Prometheus.

Metrics are those of `metrics.py` and those of node_exporter, for ports (`port_alerts.py`). Each
limit has its source beside it; where there is none, it says that it is our inference. The exporter's own pod
and namespace are in `pod` and `namespace`; those of the pod that holds a GPU are in `exported_pod` and
`exported_namespace`.
"""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from components.base.model import DnsName, Model, Seconds
from components.monitoring.metrics import Generation, named

Severity = Literal["critical", "warning", "info"]
Device = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+$")]
"""Name of an adapter below /sys/class/infiniband."""

_OF_APPLICATIONS = (13, 31, 43, 45, 68)
"""XIDs that a program's own fault causes on a sound GPU, as NVIDIA's device plugin has them."""
_BRAKE = 128
"""Bit of the power brake, by which the machine slows its GPUs. PromQL has no AND: the remainder by twice of it has."""
OF_PODS = "exported_pod"
"""Label of the pod that has a GPU."""
_HELD = 'DCGM_FI_DEV_GPU_UTIL{exported_pod!=""}'
_GPU = "GPU {{ $labels.gpu }} of {{ $labels.Hostname }}"


class GpuThresholds(Model):
    """Thresholds of GPU alerts, shared by settings and component."""

    temperature: int = Field(
        default=85,
        gt=0,
        le=120,
        description="degrees Celsius of a GPU above which an alert fires. No document names one: a choice",
    )
    low_use: int = Field(
        default=20,
        ge=0,
        le=100,
        description="percent of use below which a pod's GPU counts as idle; training keeps GPUs at 94 to 96",
    )


class Thresholds(GpuThresholds):
    """Thresholds of alerts about GPUs and ports."""

    hw_counters: bool = Field(
        default=False,
        description="alerts on the ports' RDMA hardware counters; needs node_exporter 1.12 or later on the nodes",
    )


class Limits(Thresholds):
    """Limits of alerts on machines of one kind."""

    nodes: tuple[DnsName, ...] = Field(default=(), description="names of the machines; none: all of the cluster")
    gpus_per_node: int = Field(gt=0, le=16, description="GPUs of a node, from its profile; fewer are an alert")
    low_use_time: Seconds = Field(default=1800, description="seconds that a pod's GPU has to be idle")
    infiniband_devices: tuple[Device, ...] = Field(
        default=(),
        description="adapters that jobs use, e.g. mlx5_0, as /sys/class/infiniband has them (RoCE ports, "
        "too); others may be without a cable",
    )
    port_gbps: int | None = Field(default=None, gt=0, description="planned rate of these ports, Gb/s; None: not known")
    roce: bool = Field(default=False, description="whether these ports are of RoCE, which has congestion packets")
    row_remapping: bool = Field(
        default=True, description="whether the GPUs replace rows of their memory; older GPUs retire pages"
    )
    node_watts: int | None = Field(
        default=None, gt=0, description="most that a node draws, W, from its profile; None: no document has it"
    )
    generation: Generation = Field(default="today", description="whose names the exporter's metrics have")
    pods: bool = Field(default=True, description="whether the exporter knows which pod has a GPU")
    port_states: bool = Field(
        default=True, description="whether node_exporter (1.0 and later) has state and rate of ports"
    )

    def of_nodes(self, label: str) -> str:
        """Return the matcher of the nodes' names in a label; empty for all nodes."""
        return f'{label}=~"{"|".join(map(re.escape, self.nodes))}"' if self.nodes else ""

    def of_series(self, label: str) -> str:
        """Return the same for a metric without other matchers."""
        return f"{{{matcher}}}" if (matcher := self.of_nodes(label)) else ""


class Alert(Model):
    """One alert; `expression` has a series for each thing that it is about."""

    name: str
    expression: str
    lasting: int = Field(default=0, ge=0, description="seconds until it is sent")
    severity: Severity
    summary: str
    description: str

    def manifest(self) -> dict[str, Any]:
        """Return the rule as a PrometheusRule has it."""
        return {
            "alert": self.name,
            "expr": self.expression,
            **({"for": f"{self.lasting}s"} if self.lasting else {}),
            "labels": {"severity": self.severity},
            "annotations": {"summary": self.summary, "description": self.description},
        }


def gpu_alerts(limits: Limits) -> Iterator[Alert]:
    """Yield the alerts about GPUs, in the names of the exporter's generation and without those that it lacks."""
    for alert in (*_gpus(limits), *_memory(limits), *_power(limits)):
        expression = named(alert.expression, limits.generation)
        if expression is not None and (limits.pods or OF_PODS not in expression):
            yield alert.model_copy(
                update={"expression": expression, "description": named(alert.description, limits.generation)}
            )


def _gpus(limits: Limits) -> Iterator[Alert]:
    yield Alert(
        name="GpuTooHot",
        expression=f"DCGM_FI_DEV_GPU_TEMP > {limits.temperature}",
        lasting=300,
        severity="warning",
        summary="A GPU is too hot",
        description=f"{_GPU} has {{{{ $value }}}} degrees Celsius; above {limits.temperature} it may slow itself down.",
    )
    yield Alert(
        name="GpuUnderused",
        expression=_for_the_tenant(
            # The second part drops a pod that has ended, whose samples the first one still averages.
            f"avg_over_time({_HELD}[10m]) < {limits.low_use} and {_HELD}"
        ),
        lasting=limits.low_use_time,
        severity="info",
        summary="A pod holds a GPU that it does not use",
        description=f"{_GPU} is used at {{{{ $value }}}} percent; pod {{{{ $labels.exported_pod }}}} of "
        "{{ $labels.exported_namespace }} holds it.",
    )
    of_programs = " or ".join(f"DCGM_FI_DEV_XID_ERRORS == {number}" for number in _OF_APPLICATIONS)
    yield Alert(
        name="GpuFault",
        expression=f"DCGM_FI_DEV_XID_ERRORS > 0 unless ({of_programs})",
        severity="critical",
        summary="A GPU reports a fault",
        description=f"The last XID of {_GPU} is {{{{ $value }}}}. It stays until the exporter restarts.",
    )
    seen = f"DCGM_FI_DEV_GPU_TEMP{limits.of_series('Hostname')}"
    yield Alert(
        name="GpuMissing",
        expression=f"count by (Hostname) (count by (Hostname, gpu) ({seen})) < {limits.gpus_per_node}",
        lasting=600,
        severity="critical",
        summary="A node has fewer GPUs than its machine",
        description=f"{{{{ $labels.Hostname }}}} shows {{{{ $value }}}} of {limits.gpus_per_node} GPUs.",
    )
    yield Alert(
        name="NvlinkErrors",
        expression="increase(DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL[10m]) > 0",  # as public rule sets have it
        severity="warning",
        summary="NVLink of a GPU has errors",
        description=f"{_GPU} had {{{{ $value }}}} errors of NVLink within ten minutes; collectives slow down.",
    )


def _memory(limits: Limits) -> Iterator[Alert]:
    if limits.row_remapping:
        yield Alert(
            name="GpuMemoryLost",
            expression="increase(DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS[1h]) > 0",
            severity="warning",
            summary="Memory of a GPU had an error that ECC could not correct",
            description=f"{_GPU} has replaced rows of its memory; results of jobs of the last hour may be wrong.",
        )
        yield Alert(
            name="GpuMemoryWornOut",
            expression="DCGM_FI_DEV_ROW_REMAP_FAILURE > 0",
            severity="critical",
            summary="Memory of a GPU cannot be repaired any more",
            description=f"{_GPU} has no rows left to replace broken ones; have it exchanged.",
        )
        return
    # Older GPUs have no rows to remap, so those two would never fire (inference from the field's documentation).
    yield Alert(
        name="GpuMemoryLost",
        expression="increase(DCGM_FI_DEV_ECC_DBE_VOL_TOTAL[1h]) > 0",
        severity="warning",
        summary="Memory of a GPU had an error that ECC could not correct",
        description=f"{_GPU} had such an error; results of jobs of the last hour may be wrong.",
    )
    yield Alert(
        name="GpuPagesRetired",
        expression="increase(DCGM_FI_DEV_RETIRED_DBE[1h]) > 0",
        severity="warning",
        summary="A GPU has retired pages of its memory",
        description=f"{_GPU} retired pages within an hour after errors that ECC could not correct; watch it.",
    )


def _power(limits: Limits) -> Iterator[Alert]:
    yield Alert(
        name="GpuPowerBrake",
        expression=f"(DCGM_FI_DEV_CLOCKS_EVENT_REASONS % {2 * _BRAKE}) >= {_BRAKE}",
        lasting=300,  # as NVIDIA's public runbook has it
        severity="critical",
        summary="A machine slows its GPUs for lack of power",
        description=f"{_GPU} is slowed by its power brake; look at the power supplies of the machine.",
    )
    if limits.node_watts:
        drawn = f"DCGM_FI_DEV_POWER_USAGE{limits.of_series('Hostname')}"
        yield Alert(
            name="NodePower",
            expression=f"sum by (Hostname) ({drawn}) > {limits.node_watts}",
            lasting=300,
            severity="warning",
            summary="The GPUs of a node draw more than the whole machine may",
            description=f"GPUs of {{{{ $labels.Hostname }}}} draw {{{{ $value }}}} W; it may {limits.node_watts} W.",
        )


def _for_the_tenant(expression: str) -> str:
    """Give the series the namespace of the GPU's pod, by which Alertmanager finds the tenant's receivers."""
    return f'label_replace({expression}, "namespace", "$1", "exported_namespace", "(.+)")'
