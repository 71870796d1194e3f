"""The settings of a stack that a review needs beside the resources."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from components.nodes.node_pool import BUILT_IN
from core.apis import names
from stacks.checks import allowance
from stacks.settings.cluster import NodeSettings
from stacks.settings.origins import SettingsError
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from toolkit.cli.shared.paths import ROOT
from toolkit.review.cluster_facts import AllowedFact, Facts, NodeFacts, PoolFacts


def of(settings: Settings, root: Path = ROOT) -> Facts:
    """Return the facts of a stack, whose project is in `root`."""
    return Facts(
        release=settings.release,
        nodes=tuple(_node(node, settings.pool_with(node.name)) for node in settings.nodes),
        pools=tuple(_pool_facts(pool) for pool in settings.gpu_pools),
        reboot_minutes=settings.reboot_minutes,
        allowed=tuple(
            AllowedFact(what=entry.what, value=entry.value, reason=entry.reason, table=table)
            for entry, table in allowance.accepted(settings)
        ),
        manifests=dict(_manifests(settings.objects, root)) if settings.objects else {},
    )


def _manifests(folders: Sequence[str], root: Path) -> Iterator[tuple[str, str]]:
    from stacks.layers import own_objects  # noqa: PLC0415 - imports Pulumi, which takes half a second

    with suppress(SettingsError):  # what renders the stack reports it
        for manifest in own_objects.read(folders, root):
            yield manifest.shown, manifest.place.rpartition(":")[0]


def _node(node: NodeSettings, pool: Pool | None) -> NodeFacts:
    if pool is None:
        of_role = next((role for role in BUILT_IN if role in node.roles), BUILT_IN[-1])
        return NodeFacts(name=node.name, gpus=0, rdma=(), pool=of_role)
    offered = tuple(names.RDMA_PREFIX + resource for resource in pool.rdma_resources)
    return NodeFacts(name=node.name, gpus=node.gpus, rdma=offered, pool=pool.machine_config_pool)


def _pool_facts(pool: Pool) -> PoolFacts:
    at_once = pool.tuning.at_once if pool.tuning and pool.own_machine_config_pool else "1"
    return PoolFacts(name=pool.machine_config_pool, at_once=str(at_once))
