"""Limits of alerts about GPUs and adapters; the alerts are in `monitoring_rules.yaml`."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from components.base.model import DnsName, Model, Seconds
from components.monitoring.metrics import Generation

Severity = Literal["critical", "warning", "info"]
Device = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+$")]
"""Name of an adapter below /sys/class/infiniband."""


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
    gpus_per_node: int = Field(gt=0, le=16, description="GPUs of a node, by its machine; fewer are an alert")
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
        default=None, gt=0, description="most that a node draws, W, by its machine; None: no document has it"
    )
    generation: Generation = Field(default="today", description="whose names the exporter's metrics have")
    pods: bool = Field(default=True, description="whether the exporter knows which pod has a GPU")
    port_states: bool = Field(
        default=True, description="whether node_exporter (1.0 and later) has state and rate of ports"
    )

    def values(self) -> Mapping[str, str]:
        """Return what `<name>` in a rule stands for."""
        names = "|".join(map(re.escape, self.nodes))
        devices = f'device=~"{"|".join(self.infiniband_devices)}"'
        return {
            **{name: str(getattr(self, name)) for name in type(self).model_fields},
            "gpu": "GPU {{ $labels.gpu }} of {{ $labels.Hostname }}",
            "port": "{{ $labels.device }} of {{ $labels.instance }}",
            "of_nodes": f'{{Hostname=~"{names}"}}' if names else "",
            "ports": f'{{{devices},instance=~"{names}"}}' if names else f"{{{devices}}}",
            "port_bytes": str((self.port_gbps or 0) * 1_000_000_000 // 8),
        }
