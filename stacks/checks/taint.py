"""Taints of pools that pods of the platform, or those of tenants, do not tolerate."""

from collections.abc import Iterator

from components.base.tolerations import GPU_TAINT, Taint, Toleration
from core.apis.kinds import NODE_FEATURE_DISCOVERY_V1ALPHA1
from core.apis.names import KUBERNETES_TAINTS
from stacks.settings.gpu import SpecialResourceSettings
from stacks.settings.platform import Settings
from stacks.settings.pools import MOST_TAINTS
from stacks.settings.resolved_pool import Pool
from stacks.settings.storage import HostClientStorage

_NOT_FOR_TENANTS = (*KUBERNETES_TAINTS, "node-role.kubernetes.io/infra")
"""Beginnings of keys of nodes whose taints the policy scheduler-decides refuses to tenants, or of Kubernetes' own."""


def problems(settings: Settings) -> Iterator[str]:
    """Yield taints that would keep pods off the nodes that need them."""
    for pool in settings.gpu_pools:
        yield from _repeated(pool)
        for taint in pool.taints:
            place = f"pools.{pool.name}.taints: {taint}"
            if taint.key.startswith(_NOT_FOR_TENANTS):
                yield (
                    f"{place} keeps tenants off, whose pods may not tolerate it; use another key, e.g. "
                    f"dedicated={pool.name}:NoSchedule"
                )
            for requester, remedy in _intolerant(taint, pool, settings):
                yield f"{place}: {requester} does not tolerate it; {remedy}"
    taints = list(dict.fromkeys(taint for pool in settings.gpu_pools for taint in pool.taints))
    if len(taints) > MOST_TAINTS:
        yield (
            f"pools: their taints are {len(taints)} together, and NMState's agents tolerate {MOST_TAINTS}; give pools "
            "some of them in common"
        )
    if taints and all(node.machine for node in settings.workers) and all(map(_keeps_off, settings.gpu_pools)):
        yield (
            "pools: every worker has a taint, and pods of operators, of monitoring and of the router tolerate none of "
            "them; leave the taints of one pool out, or add workers without GPUs"
        )


def _repeated(pool: Pool) -> Iterator[str]:
    kinds = [(taint.key, taint.effect) for taint in pool.taints]
    for key, effect in dict.fromkeys(kind for kind in kinds if kinds.count(kind) > 1):
        yield f"pools.{pool.name}.taints: {key}:{effect} is there twice, and a node has it once; leave one out"


def _keeps_off(pool: Pool) -> bool:
    return any(taint.keeps_off for taint in pool.taints)


def _intolerant(taint: Taint, pool: Pool, settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield pods of the platform that a taint keeps off the nodes of a pool, each with what to do."""
    if not taint.keeps_off:
        return
    if isinstance(settings.gpu, SpecialResourceSettings) and not _is_borne(taint, GPU_TAINT):
        yield "the Special Resource Operator's driver", f"use {GPU_TAINT.key}:{GPU_TAINT.effect}, or leave it out"
    features = settings.version.node_feature_discovery
    if settings.node_feature_discovery and features == NODE_FEATURE_DISCOVERY_V1ALPHA1:
        yield f"node feature discovery of {features.api_version}", "leave it out"
    on_hosts = isinstance(settings.storage, HostClientStorage) and pool.has_scale_clients
    if on_hosts and settings.version.scale_csi == "2.0":
        yield "the Spectrum Scale CSI driver 2.0", "leave it out, or use nodes that are no clients"


def _is_borne(taint: Taint, toleration: Toleration) -> bool:
    same = toleration.key == taint.key and toleration.value in (None, taint.value)
    return same and toleration.effect in (None, taint.effect)
