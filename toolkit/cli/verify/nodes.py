"""The nodes of a cluster as evidence. Pure, but for the reading."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.apis import devices, kinds, names, rhel
from policies.manifests.values import read as value
from stacks.settings.fabric import Ethernet, RdmaFabric
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from stacks.settings.site.hosts import RedHatHosts
from toolkit.cli.shared import metadata
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.status.overview import count
from toolkit.cli.verify.expectations import of_pool
from toolkit.evidence.model import NODE_FACTS, NodeFact, NodeFacts
from toolkit.evidence.verdict import Ended, Job, Request

PLACE = "(nodes of the cluster)"
"""The placeholder for a file: in parentheses, as no file is called, and its lines have no numbers that count."""
JOB = "nodes"
"""What the nodes are called beside the jobs, those of a pool with its name."""
_DRIVER = (
    tuple(f"nvidia.com/cuda.driver-version.{part}" for part in ("major", "minor", "revision")),
    tuple(f"nvidia.com/cuda.driver.{part}" for part in ("major", "minor", "rev")),
)
"""Labels of GPU feature discovery: today's, and those of its first years."""


def look(cluster: Cluster, settings: Settings) -> list[Job]:
    """Return what the API server reports of the nodes of each pool, as a job beside the others that never ends."""
    nodes = cluster.list(kinds.NODE)
    return [_of_pool(pool, nodes, cluster, settings) for pool in settings.gpu_pools]


def _of_pool(pool: Pool, nodes: Sequence[Mapping[str, Any]], cluster: Cluster, settings: Settings) -> Job:
    plain = {node.name: node.roles for node in settings.nodes if not node.machine}
    roles = {node.name: node.roles for node in pool.nodes} | plain
    request = Request(
        **of_pool(pool),
        job=f"{JOB} of {pool.name}" if pool.declared else JOB,
        nodes=tuple(pool.free),
        roles=roles,
        taints=tuple(str(taint) for taint in pool.taints if taint.keeps_off) if pool.declared else None,
        divided={node.name: node.instances for node in pool.nodes if node.instances},
        feature_labels=settings.node_feature_discovery is not None,
        hca_shares=pool.fabric.hca_max if isinstance(pool.fabric, RdmaFabric) else None,
        devices=tuple(hca.name for hca in pool.hcas),
        systems=systems(pool, settings),
    )
    own = [node for node in nodes if value(node, "metadata", "name") in pool.free]
    others = [node for node in nodes if value(node, "metadata", "name") in plain]
    network = _network(cluster) if isinstance(pool.fabric, Ethernet) else None
    slices = cluster.list(kinds.RESOURCE_SLICE) if pool.by_claims else ()
    return Job(request=request, ended=Ended.UNKNOWN, readings=(facts(own, network, others, slices),))


def systems(pool: Pool, settings: Settings) -> Mapping[str, str]:
    """Return the operating system of each master and of the pool's nodes, where release and settings leave one."""
    own = settings.site.hosts if settings.site else None
    allowed = settings.version.systems
    masters = [node.name for node in settings.nodes if "master" in node.roles and not node.machine]
    by_node = dict.fromkeys(masters, rhel.RHCOS) if "rhcos" in allowed else {}
    if isinstance(own, RedHatHosts):
        system = f"RHEL {own.release or own.dialect.removeprefix('rhel')}"
    elif own is not None or [*allowed] == ["rhcos"]:
        system = rhel.RHCOS
    else:
        return by_node
    return by_node | dict.fromkeys(pool.free, system)


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
    slices: Iterable[Mapping[str, Any]] = (),
) -> NodeFacts:
    """Read nodes of the API, those with GPUs and others, and what OpenShift reports of the pod network.

    `slices` are ResourceSlices, which have the GPUs that pods get by claims.
    """
    published = devices.published(slices)
    return NodeFacts(
        file=PLACE,
        tool=NODE_FACTS,
        complete=True,
        first_line=1,
        last_line=1,
        nodes=tuple(sorted((_fact(node, published) for node in nodes), key=lambda row: row.name)),
        others=tuple(sorted((_fact(node, published) for node in others), key=lambda row: row.name)),
        pod_mtu=value(network or {}, "status", "clusterNetworkMTU") or None,
    )


def _fact(node: Mapping[str, Any], published: Mapping[str, list[devices.Attributes]]) -> NodeFact:
    labels = value(node, "metadata", "labels") or {}
    offered = value(node, "status", "allocatable") or {}
    by_claims = published.get(node["metadata"]["name"], [])
    products = {str(device["productName"]).replace(" ", "-") for device in by_claims if device.get("productName")}
    info = value(node, "status", "nodeInfo") or {}
    conditions = {
        condition.get("type"): condition.get("status") for condition in value(node, "status", "conditions") or ()
    }
    drivers = (".".join(labels[part] for part in parts if labels.get(part)) for parts in _DRIVER)
    return NodeFact(
        name=node["metadata"]["name"],
        roles=tuple(sorted(key.removeprefix(names.NODE_ROLE) for key in labels if key.startswith(names.NODE_ROLE))),
        ready=conditions.get("Ready") == "True",
        schedulable=not value(node, "spec", "unschedulable"),
        gpus=count(offered.get(names.GPU_RESOURCE)) + devices.whole_gpus(by_claims),
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
        gpu_model=labels.get(names.GPU_PRODUCT) or (products.pop() if len(products) == 1 else None),
        driver=next((driver for driver in drivers if driver), None),
        taints=tuple(map(str, metadata.repelling(node))),
        kernel=str(info.get("kernelVersion", "")),
        os_image=str(info.get("osImage", "")),
        kubelet=str(info.get("kubeletVersion", "")),
    )
