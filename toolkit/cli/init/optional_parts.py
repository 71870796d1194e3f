"""Parts of an example that a cluster in use does not have: nothing is turned on there that its user has not chosen."""

from collections.abc import Iterator
from typing import Any

from components.nodes.node_pool import BUILT_IN
from core.apis.operators import network_operator, nmstate
from toolkit.cli.init import operators
from toolkit.cli.init.decision import REVIEW, Decision
from toolkit.cli.init.facts import Cluster

_ALWAYS = {
    "tuning": "changes of the nodes' operating system",
    "pull_secret": "accounts of registries",
    "trainer": "Kubeflow Trainer",
    "programs": "programs",
    "builds": "images that the cluster builds",
    "stages": "jobs",
}
"""Settings that are left out, and what they are; the jobs are for what the example has."""
_WITH_OPERATORS = {"queues": "Kueue", "operators": "operators", "mpi_operator": "the MPI operator"}
"""Settings that are left out where none of their operators is there."""
_ETHERNET = {"kind": "ethernet"}


def in_use(settings: dict[str, Any], cluster: Cluster) -> bool:
    """Whether others use GPUs of a cluster: it has teams with a quota of them, or the GPU Operator."""
    operator = (settings.get("gpu") or {}).get("operator") or {}
    teams = any(namespace.quota for namespace in cluster.namespaces.values())
    return teams or cluster.gpu_policy is not None or _has(cluster, operator.get("package"))


def fit(settings: dict[str, Any], cluster: Cluster, example: str) -> list[Decision]:
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
    if settings["fabric"]["kind"] != _ETHERNET["kind"] and not _has(cluster, network_operator.OPERATOR.package):
        settings["fabric"] = dict(_ETHERNET)
        settings.pop("ports", None)
        yield "an RDMA network (`fabric`)"
    for field in ("ports", "bond"):
        if not _has(cluster, nmstate.OPERATOR.package) and settings["fabric"].pop(field, None):
            yield f"the configuration of the nodes' ports (`fabric.{field}`)"


def _has(cluster: Cluster, package: str | None) -> bool:
    packages = (
        *(subscription.package for subscription in cluster.subscriptions),
        *(controller.package for controller in cluster.controllers),
    )
    return package in packages
