"""Parts of an example as a cluster in use has them: what it lacks is left out, and its GPU Operator is followed."""

import re
from collections.abc import Iterator
from typing import Any

from components.gpu.gpu_operator import GpuStack
from components.monitoring.gpu_monitoring import EXPORTER_LIST
from components.nodes.node_pool import BUILT_IN
from core.apis.operators import OPERATORS
from stacks.gpu_drivers import gpu_drivers
from toolkit.cli.init import operators
from toolkit.cli.init.decision import REVIEW, Decision
from toolkit.cli.init.facts import Cluster

_ALWAYS = {
    "tuning": "changes of the nodes' operating system",
    "pull_secret": "accounts of registries",
    "trainer": "Kubeflow Trainer",
    "node_health": "restarts of lost nodes",
    "programs": "programs",
    "builds": "images that the cluster builds",
    "stages": "jobs",
}
"""Settings that are left out, and what they are; the jobs are for what the example has."""
_WITH_OPERATORS = {"queues": "Kueue", "operators": "operators", "mpi_operator": "the MPI operator"}
"""Settings that are left out where none of their operators is there."""
_ETHERNET = {"kind": "ethernet"}
_OPERATOR = "gpu-operator"
_VERSION = re.compile(r"(\d+\.\d+)$")


def in_use(settings: dict[str, Any], cluster: Cluster) -> bool:
    """Whether others use GPUs of a cluster: it has teams with a quota of them, or the GPU Operator."""
    operator = (settings.get("gpu") or {}).get("operator") or {}
    teams = any(namespace.quota for namespace in cluster.namespaces.values())
    return teams or cluster.gpu_policy is not None or _has(cluster, operator.get("package"))


def leave_out(settings: dict[str, Any], cluster: Cluster, example: str) -> list[Decision]:
    """Leave out, in place, what a cluster in use does not have; return one decision that names it, with the remedy."""
    if not in_use(settings, cluster):
        return []
    gone = [*_left_out(settings, cluster)]
    if not gone:
        return []
    text = (
        f"the cluster is in use, so what it does not have is not turned on: {'; '.join(gone)}. To turn a part on, add "
        f"its setting here: `./hpc settings --stack {example}` prints the example's, "
        "docs/reference/settings.md describes it"
    )
    return [Decision(("fabric",), text, mark=REVIEW)]


def _left_out(settings: dict[str, Any], cluster: Cluster) -> Iterator[str]:
    yield from _network(settings, cluster)
    for field, what in _ALWAYS.items():
        if settings.pop(field, None):
            yield f"{what} (`{field}`)"
    for field, what in _WITH_OPERATORS.items():
        packages = [subscription["package"] for _, subscription in operators.places(settings.get(field))]
        installed = (
            cluster.mpi_operators if field == "mpi_operator" else any(_has(cluster, package) for package in packages)
        )
        if not installed and settings.pop(field, None):
            yield f"{what} (`{field}`)"
    pool = settings.get("machine_config_pool")
    if pool not in (None, *BUILT_IN, *cluster.pools):
        del settings["machine_config_pool"]
        yield "a pool of the GPU nodes (`machine_config_pool`)"


def _network(settings: dict[str, Any], cluster: Cluster) -> Iterator[str]:
    if settings["fabric"]["kind"] != _ETHERNET["kind"] and not _has(cluster, OPERATORS["network_operator"].package):
        settings["fabric"] = dict(_ETHERNET)
        settings.pop("ports", None)
        yield "an RDMA network (`fabric`)"
    for field in ("ports", "bond"):
        if not _has(cluster, OPERATORS["nmstate"].package) and settings["fabric"].pop(field, None):
            yield f"the configuration of the nodes' ports (`fabric.{field}`)"


def _has(cluster: Cluster, package: str | None) -> bool:
    packages = (
        *(subscription.package for subscription in cluster.subscriptions),
        *(controller.package for controller in cluster.controllers),
    )
    return package in packages


def fit_gpu_policy(settings: dict[str, Any], cluster: Cluster) -> Iterator[Decision]:
    """Make the settings of the GPU Operator those of the cluster, in place; yield what to review."""
    gpu, policy = settings.get("gpu") or {}, cluster.gpu_policy
    if cluster.gpu_cluster and gpu.get("enablement") == _OPERATOR:
        gpu["allocation"] = "dra"
        yield Decision(
            ("gpu", "allocation"),
            "the cluster has a GPUCluster, so pods get GPUs by claims; driver and ComputeDomains as there",
            mark=REVIEW,
        )
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


def mix_mig(settings: dict[str, Any]) -> Iterator[Decision]:
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
