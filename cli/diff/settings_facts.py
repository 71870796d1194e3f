"""The settings of a stack that a review needs beside the resources."""

from apis import names
from components.node_pool import BUILT_IN
from review.cluster_facts import AllowedFact, Facts, NodeFacts, PoolFacts
from stacks.checks import allowance
from stacks.cluster_settings import NodeSettings
from stacks.platform import Settings

_POOLS = ("master", "worker")


def of(settings: Settings) -> Facts:
    """Return the facts of a stack."""
    offered = tuple(names.RDMA_PREFIX + resource for resource in settings.rdma_resources) if settings.uses_rdma else ()
    own = settings.machine_config_pool
    at_once = settings.tuning.at_once if settings.tuning and own not in BUILT_IN else "1"
    return Facts(
        release=settings.release,
        nodes=tuple(
            NodeFacts(
                name=node.name,
                gpus=settings.free.get(node.name, 0),
                rdma=offered if node.profile else (),
                pool=own if node.profile else _pool(node),
            )
            for node in settings.nodes
        ),
        pools=(PoolFacts(name=own, at_once=str(at_once)),),
        reboot_minutes=settings.reboot_minutes,
        allowed=tuple(
            AllowedFact(
                what=entry.what, value=entry.value, reason=entry.reason, table=unlisted.reason if unlisted else ""
            )
            for entry, unlisted in allowance.accepted(settings)
        ),
    )


def _pool(node: NodeSettings) -> str:
    return next((pool for pool in _POOLS if pool in node.roles), _POOLS[-1])
