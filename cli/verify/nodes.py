"""The nodes of a cluster as evidence. Pure, but for the reading."""

from collections.abc import Iterable, Mapping
from typing import Any

from apis import kinds, names
from cli.shared.cluster_client import Cluster, RefusedError
from cli.status.overview import count
from cli.verify.expectations import own_machine, pod_mtu
from evidence.node_facts import NODE_FACTS, NodeFact, NodeFacts
from evidence.verdict import Ended, Job, Request
from policies.values import read as value
from stacks.fabric_settings import Ethernet
from stacks.platform import Settings

PLACE = "(nodes of the cluster)"
"""The placeholder for a file: in parentheses, as no file is called, and its lines have no numbers that count."""
JOB = "nodes"
"""What the nodes are called beside the jobs."""
_PRODUCT = "nvidia.com/gpu.product"
_DRIVER = (
    tuple(f"nvidia.com/cuda.driver-version.{part}" for part in ("major", "minor", "revision")),
    tuple(f"nvidia.com/cuda.driver.{part}" for part in ("major", "minor", "rev")),
)
"""Labels of GPU feature discovery: today's, and those of its first years."""


def look(cluster: Cluster, settings: Settings) -> Job:
    """Return what the API server reports of the nodes with GPUs, as a job beside the others that never ends."""
    wanted = tuple(node.name for node in settings.gpu_nodes)
    roles = {node.name: node.roles for node in settings.nodes}
    request = Request(
        job=JOB,
        profile=settings.profile.name,
        own_machine=own_machine(settings),
        fabric=settings.fabric.kind,
        nodes=wanted,
        roles=roles,
        pod_mtu=pod_mtu(settings),
        divided={node.name: node.instances for node in settings.gpu_nodes if node.instances},
        feature_labels=settings.node_feature_discovery is not None,
        hca_shares=None if isinstance(settings.fabric, Ethernet) else settings.fabric.hca_max,
        devices=tuple(hca.name for hca in settings.profile.hcas) if settings.uses_rdma else (),
    )
    there = [node for node in cluster.list(kinds.NODE) if value(node, "metadata", "name") in roles]
    gpus, others = ([node for node in there if (node["metadata"]["name"] in wanted) is own] for own in (True, False))
    network = _network(cluster) if isinstance(settings.fabric, Ethernet) else None
    return Job(request=request, ended=Ended.UNKNOWN, readings=(facts(gpus, network, others),))


def _network(cluster: Cluster) -> Mapping[str, Any] | None:
    """Return what OpenShift reports of the pod network; None also to an account that may not read it."""
    try:
        return cluster.read(kinds.NETWORK_CONFIG, "", names.NETWORK_CONFIG)
    except RefusedError:
        return None


def facts(
    nodes: Iterable[Mapping[str, Any]],
    network: Mapping[str, Any] | None = None,
    others: Iterable[Mapping[str, Any]] = (),
) -> NodeFacts:
    """Read nodes of the API, those with GPUs and others, and what OpenShift reports of the pod network."""
    return NodeFacts(
        file=PLACE,
        tool=NODE_FACTS,
        complete=True,
        first_line=1,
        last_line=1,
        nodes=tuple(sorted((_fact(node) for node in nodes), key=lambda row: row.name)),
        others=tuple(sorted((_fact(node) for node in others), key=lambda row: row.name)),
        pod_mtu=value(network or {}, "status", "clusterNetworkMTU") or None,
    )


def _fact(node: Mapping[str, Any]) -> NodeFact:
    labels = value(node, "metadata", "labels") or {}
    offered = value(node, "status", "allocatable") or {}
    info = value(node, "status", "nodeInfo") or {}
    conditions = {one.get("type"): one.get("status") for one in value(node, "status", "conditions") or ()}
    drivers = (".".join(labels[part] for part in parts if labels.get(part)) for parts in _DRIVER)
    return NodeFact(
        name=node["metadata"]["name"],
        roles=tuple(sorted(key.removeprefix(names.NODE_ROLE) for key in labels if key.startswith(names.NODE_ROLE))),
        ready=conditions.get("Ready") == "True",
        schedulable=not value(node, "spec", "unschedulable"),
        gpus=count(offered.get(names.GPU_RESOURCE)),
        instances={
            name.removeprefix(names.MIG_PREFIX): count(amount)
            for name, amount in sorted(offered.items())
            if name.startswith(names.MIG_PREFIX) and count(amount)
        },
        rdma={
            name.removeprefix(names.RDMA_PREFIX): count(amount)
            for name, amount in sorted(offered.items())
            if name.startswith(names.RDMA_PREFIX)
        },
        found_gpu=any(labels.get(name) == "true" for name in names.GPU_FEATURES),
        gpu_model=labels.get(_PRODUCT),
        driver=next((one for one in drivers if one), None),
        kernel=str(info.get("kernelVersion", "")),
        os_image=str(info.get("osImage", "")),
        kubelet=str(info.get("kubeletVersion", "")),
    )
