"""The nodes of a cluster as evidence. Pure, but for the reading."""

from collections.abc import Iterable, Mapping
from typing import Any

from apis import kinds, names
from cli.live import Cluster
from evidence.node_facts import NODE_FACTS, NodeFact, NodeFacts
from evidence.verdict import Asked, Ended, Job
from policies.values import read as value
from stacks.fabric_settings import Ethernet
from stacks.platform import Settings

JOB = "nodes"
"""What the nodes are called beside the jobs."""
_PRODUCT = "nvidia.com/gpu.product"
_DRIVER = tuple(f"nvidia.com/cuda.driver.{part}" for part in ("major", "minor", "rev"))


def look(cluster: Cluster, settings: Settings) -> Job:
    """Return what the API server says of the nodes with GPUs, as if a job had told it."""
    wanted = tuple(node.name for node in settings.gpu_nodes)
    asked = Asked(
        job=JOB,
        profile=settings.profile.name,
        fabric=settings.fabric.kind,
        nodes=wanted,
        pod_mtu=settings.fabric.pod_mtu if isinstance(settings.fabric, Ethernet) else None,
        devices=tuple(hca.name for hca in settings.profile.hcas) if settings.uses_rdma else (),
    )
    there = [node for node in cluster.list(kinds.NODE) if value(node, "metadata", "name") in wanted]
    network = cluster.read(kinds.NETWORK_CONFIG, "", names.NETWORK_CONFIG)
    return Job(asked=asked, ended=Ended.SUCCEEDED, readings=(facts(there, network),))


def facts(nodes: Iterable[Mapping[str, Any]], network: Mapping[str, Any] | None = None) -> NodeFacts:
    """Read nodes of the API, and what OpenShift says of the pod network."""
    return NodeFacts(
        file="(nodes of the cluster)",
        tool=NODE_FACTS,
        complete=True,
        first_line=1,
        last_line=1,
        nodes=tuple(sorted((_fact(node) for node in nodes), key=lambda row: row.name)),
        pod_mtu=value(network or {}, "status", "clusterNetworkMTU") or None,
    )


def _fact(node: Mapping[str, Any]) -> NodeFact:
    labels = value(node, "metadata", "labels") or {}
    offered = value(node, "status", "allocatable") or {}
    info = value(node, "status", "nodeInfo") or {}
    conditions = {one.get("type"): one.get("status") for one in value(node, "status", "conditions") or ()}
    driver = ".".join(labels[part] for part in _DRIVER if labels.get(part))
    return NodeFact(
        name=node["metadata"]["name"],
        ready=conditions.get("Ready") == "True",
        schedulable=not value(node, "spec", "unschedulable"),
        gpus=int(offered.get(names.GPU_RESOURCE, 0)),
        rdma={
            name.removeprefix(names.RDMA_PREFIX): int(amount)
            for name, amount in sorted(offered.items())
            if name.startswith(names.RDMA_PREFIX)
        },
        gpu_model=labels.get(_PRODUCT),
        driver=driver or None,
        kernel=str(info.get("kernelVersion", "")),
        os_image=str(info.get("osImage", "")),
        kubelet=str(info.get("kubeletVersion", "")),
    )
