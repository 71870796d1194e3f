"""Settings of the GPU Operator, as the cluster's ClusterPolicy has them."""

from collections.abc import Iterator
from typing import Any

from cli.init.decision import REVIEW, Decision
from cli.init.facts import Cluster

_OPERATOR = "gpu-operator"


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
    elif policy.driver_version and isinstance(gpu.get("driver"), dict):
        gpu["driver"]["version"] = policy.driver_version
    yield Decision(
        ("gpu",),
        "MIG, driver and GPUDirect Storage as the cluster's ClusterPolicy has them; `./hpc adopt` keeps its other "
        "fields",
        mark=REVIEW,
    )
