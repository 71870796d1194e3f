"""Alerts about GPUs and adapters (S-5.6, S-5.7, D-6.2), as rules of Prometheus.

Metrics are those that NVIDIA's exporter has by default (NVIDIA/dcgm-exporter, etc/dcp-metrics-included.csv) and those
of node_exporter's InfiniBand collector, which OpenShift runs on every node. The exporter's own pod and namespace are in
`pod` and `namespace`; those of the pod that holds a GPU are in `exported_pod` and `exported_namespace`.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from components.model import Model, Seconds

Severity = Literal["critical", "warning", "info"]
Device = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+$")]
"""Name of an adapter below /sys/class/infiniband."""

_OF_APPLICATIONS = (13, 31, 43, 45, 68)
"""XIDs that a program's own fault causes on a sound GPU, as NVIDIA's device plugin has them."""
_ACTIVE = 4
"""Logical state of a port that carries data (infiniband: 1 down, 2 init, 3 armed, 4 active)."""
_GPU = "GPU {{ $labels.gpu }} of {{ $labels.Hostname }}"
_PORT = "{{ $labels.device }} of {{ $labels.instance }}"


class Thresholds(Model):
    """Thresholds of alerts, as settings and the component have them."""

    temperature: int = Field(
        default=85,
        gt=0,
        le=120,
        description="degrees Celsius of a GPU, above which there is an alert. No document names one (S-5.6): a choice",
    )
    low_use: int = Field(
        default=20,
        ge=0,
        le=100,
        description="percent, below which a pod's GPU counts as idle (S-5.7); training keeps GPUs at 94 to 96 (S-5.3)",
    )


class Limits(Thresholds):
    """Limits of alerts on machines of one kind."""

    gpus_per_node: int = Field(gt=0, le=16, description="GPUs of a node, from its profile; fewer are an alert")
    low_use_time: Seconds = Field(default=1800, description="seconds over which a pod's GPU is measured")
    infiniband_devices: tuple[Device, ...] = Field(
        default=(), description="adapters that jobs use, e.g. mlx5_0; others may be without a cable"
    )


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


def alerts(limits: Limits) -> tuple[Alert, ...]:
    """Return all alerts; those of InfiniBand only with InfiniBand devices."""
    return (*_gpus(limits), *(_ports(limits.infiniband_devices) if limits.infiniband_devices else ()))


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
            f'avg_over_time(DCGM_FI_DEV_GPU_UTIL{{exported_pod!=""}}[{limits.low_use_time}s]) < {limits.low_use}'
        ),
        lasting=60,
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
    yield Alert(
        name="GpuMemoryLost",
        expression="increase(DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS[1h]) > 0",
        severity="warning",
        summary="Memory of a GPU had an error that ECC could not correct",
        description=f"{_GPU} has replaced rows of its memory; results of jobs of the last hour are in doubt.",
    )
    yield Alert(
        name="GpuMemoryWornOut",
        expression="DCGM_FI_DEV_ROW_REMAP_FAILURE > 0",
        severity="critical",
        summary="Memory of a GPU cannot be repaired any more",
        description=f"{_GPU} has no rows left to replace broken ones; have it exchanged.",
    )
    yield Alert(
        name="GpuMissing",
        expression=f"count by (Hostname) (count by (Hostname, gpu) (DCGM_FI_DEV_GPU_TEMP)) < {limits.gpus_per_node}",
        lasting=600,
        severity="critical",
        summary="A node has fewer GPUs than its machine",
        description=f"{{{{ $labels.Hostname }}}} shows {{{{ $value }}}} of {limits.gpus_per_node} GPUs.",
    )


def _for_the_tenant(expression: str) -> str:
    """Give the series the namespace of the GPU's pod, by which Alertmanager finds the tenant's receivers."""
    return f'label_replace({expression}, "namespace", "$1", "exported_namespace", "(.+)")'


def _ports(devices: tuple[str, ...]) -> Iterator[Alert]:
    ours = f'{{device=~"{"|".join(devices)}"}}'
    yield Alert(
        name="InfinibandPortDown",
        expression=f"node_infiniband_state_id{ours} != {_ACTIVE}",
        lasting=300,
        severity="critical",
        summary="A port of the fabric is not active",
        description=f"Jobs that are configured to use {_PORT} fail, or go on over fewer ports.",
    )
    yield Alert(
        name="InfinibandLinkLost",
        expression=f"increase(node_infiniband_link_downed_total{ours}[1h]) > 0",
        severity="warning",
        summary="A link of the fabric went down",
        description=f"{_PORT} lost its link {{{{ $value }}}} times within an hour; look at its cable.",
    )
    yield Alert(
        name="InfinibandErrors",
        expression=f"increase(node_infiniband_port_errors_received_total{ours}[1h]) > 0",
        severity="warning",
        summary="A port of the fabric receives broken packets",
        description=f"{_PORT} received {{{{ $value }}}} broken packets within an hour; look at its cable.",
    )
