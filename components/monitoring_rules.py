"""All rules of Prometheus over GPUs and fabric: alerts, and series that are recorded for long views."""

from typing import Any

from components.alerts import OF_PODS, Alert, Limits, gpu_alerts
from components.metrics import named
from components.port_alerts import port_alerts

_INTERVAL = "30s"
"""How often series are recorded: OpenShift's Prometheus scrapes as often."""


def alerts(limits: Limits) -> tuple[Alert, ...]:
    """Return all alerts; those of ports only with adapters."""
    return (*gpu_alerts(limits), *port_alerts(limits))


def recorded(limits: Limits) -> dict[str, str]:
    """Return the expressions of recorded series by name: W of a node's GPUs, percent of use, bytes/s of a port."""
    written = {
        "hpc:gpu_power_watts:sum": "sum by (Hostname) (DCGM_FI_DEV_POWER_USAGE)",
        "hpc:gpu_util:avg": 'avg by (exported_namespace) (DCGM_FI_DEV_GPU_UTIL{exported_pod!=""})',
    }
    found = {
        name: now
        for name, each in written.items()
        if (now := named(each, limits.generation)) is not None and (limits.pods or OF_PODS not in now)
    }
    if limits.infiniband_devices:
        ours = f'{{device=~"{"|".join(limits.infiniband_devices)}"}}'
        sides = (
            f"rate(node_infiniband_port_data_{side}_bytes_total{ours}[5m])" for side in ("received", "transmitted")
        )
        found["hpc:rdma_bytes:rate5m"] = " + ".join(sides)
    return found


def groups(limits: Limits) -> list[dict[str, Any]]:
    """Return the groups of the PrometheusRule."""
    series = [{"record": name, "expr": expression} for name, expression in recorded(limits).items()]
    return [
        {"name": "hpc", "rules": [alert.manifest() for alert in alerts(limits)]},
        {"name": "hpc-recorded", "interval": _INTERVAL, "rules": series},
    ]
