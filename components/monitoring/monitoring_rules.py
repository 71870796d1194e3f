"""All rules of Prometheus over GPUs and fabric: alerts, and series that are recorded for long views."""

from collections.abc import Iterator, Sequence
from typing import Any

from components.monitoring.alerts import OF_PODS, Alert, Limits, gpu_alerts
from components.monitoring.metrics import named
from components.monitoring.port_alerts import port_alerts, ports

_INTERVAL = "30s"
"""How often series are recorded: OpenShift's Prometheus scrapes as often."""


def alerts(machines: Sequence[Limits]) -> tuple[Alert, ...]:
    """Return all alerts about machines, each once; those of ports only with adapters."""
    every = (alert for limits in machines for alert in (*gpu_alerts(limits), *port_alerts(limits)))
    return tuple(dict.fromkeys(every))


def recorded(machines: Sequence[Limits]) -> tuple[tuple[str, str], ...]:
    """Return recorded series and expressions: W of a node's GPUs, percent of use, bytes/s of a port."""
    return tuple(dict.fromkeys(series for limits in machines for series in _recorded(limits)))


def _recorded(limits: Limits) -> Iterator[tuple[str, str]]:
    written = {
        "hpc:gpu_power_watts:sum": "sum by (Hostname) (DCGM_FI_DEV_POWER_USAGE)",
        "hpc:gpu_util:avg": 'avg by (exported_namespace) (DCGM_FI_DEV_GPU_UTIL{exported_pod!=""})',
    }
    for name, expression in written.items():
        now = named(expression, limits.generation)
        if now is not None and (limits.pods or OF_PODS not in now):
            yield name, now
    if limits.infiniband_devices:
        sides = (
            f"rate(node_infiniband_port_data_{side}_bytes_total{ports(limits)}[5m])"
            for side in ("received", "transmitted")
        )
        yield "hpc:rdma_bytes:rate5m", " + ".join(sides)


def groups(machines: Sequence[Limits]) -> list[dict[str, Any]]:
    """Return the groups of the PrometheusRule."""
    series = [{"record": name, "expr": expression} for name, expression in recorded(machines)]
    return [
        {"name": "hpc", "rules": [alert.manifest() for alert in alerts(machines)]},
        {"name": "hpc-recorded", "interval": _INTERVAL, "rules": series},
    ]
