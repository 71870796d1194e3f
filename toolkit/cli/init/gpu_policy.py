"""Settings of the GPU Operator, as the cluster's ClusterPolicy has them."""

import re
from collections.abc import Iterator
from typing import Any

from components.gpu.gpu_operator import GpuStack
from components.monitoring.gpu_monitoring import EXPORTER_LIST
from stacks.gpu_drivers import gpu_drivers
from toolkit.cli.init.decision import REVIEW, Decision
from toolkit.cli.init.facts import Cluster

_OPERATOR = "gpu-operator"
_VERSION = re.compile(r"(\d+\.\d+)$")


def fit(settings: dict[str, Any], cluster: Cluster) -> Iterator[Decision]:
    """Make the settings of the GPU Operator those of the cluster, in place; yield what to review."""
    gpu, policy = settings.get("gpu") or {}, cluster.gpu_policy
    if policy is None or gpu.get("enablement") != _OPERATOR:
        return
    if policy.mig:
        gpu["mig"] = policy.mig
    for field in ("gds", "gdrcopy"):
        gpu[field] = getattr(policy, field)
    if not policy.driver:
        gpu["driver"] = None
    elif isinstance(gpu.get("driver"), dict):
        gpu["driver"]["version"] = policy.driver_version or _default(gpu)
    used = gpu.get("operator", {}).get("installed")
    if not used and policy.name != GpuStack.model_fields["policy"].default:
        gpu["policy"] = policy.name
    yield Decision(
        ("gpu",),
        "MIG, driver and GPUDirect Storage as the cluster's ClusterPolicy has them; "
        + ("keep them equal to it: the stack does not declare it" if used else "adopting it keeps its other fields"),
        mark=REVIEW,
    )
    if policy.metrics != EXPORTER_LIST:
        gpu["monitoring"] = None
        chosen = f"the list {policy.metrics} of somebody" if policy.metrics else "its own list"
        yield Decision(
            ("gpu", "monitoring"),
            f"the cluster's exporter has {chosen}, so neither alerts nor dashboards are declared; remove this line for "
            "ours, with our list of metrics (docs/guide/monitoring.md)",
            mark=REVIEW,
        )


def with_pools(settings: dict[str, Any]) -> Iterator[Decision]:
    """Make the MIG strategy, in place, one that several pools can have; yield what to decide of the cluster's."""
    gpu = settings.get("gpu") or {}
    if gpu.get("mig") == "single":
        gpu["mig"] = "mixed"
        yield Decision(
            ("gpu", "mig"),
            "the cluster's ClusterPolicy has single, by which MIG instances and whole GPUs of several pools are both "
            "nvidia.com/gpu: change it there, too, where the stack does not manage it. Whole GPUs stay as they are",
        )


def _default(gpu: dict[str, Any]) -> str:
    """Return the driver that the settings name, where the operator's version supports it; else its newest."""
    named, channel = str(gpu["driver"]["version"]), str(gpu.get("operator", {}).get("channel", ""))
    version = _VERSION.search(channel)
    drivers = gpu_drivers()
    if version is None or drivers.supports(version[1], named):
        return named
    return next(iter(drivers.newest(version[1])), named)
