"""The settings of a stack that a review needs beside the resources."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from apis import names
from cli.shared.paths import ROOT
from components.node_pool import BUILT_IN
from review.cluster_facts import AllowedFact, Facts, NodeFacts, PoolFacts
from stacks.checks import allowance
from stacks.cluster_settings import NodeSettings
from stacks.platform import Settings
from stacks.settings_error import SettingsError

_POOLS = ("master", "worker")


def of(settings: Settings, root: Path = ROOT) -> Facts:
    """Return the facts of a stack, whose project is in `root`."""
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
        manifests=dict(_manifests(settings.objects, root)) if settings.objects else {},
    )


def _manifests(folders: Sequence[str], root: Path) -> Iterator[tuple[str, str]]:
    from stacks import own_objects  # noqa: PLC0415 - imports Pulumi, which takes half a second

    with suppress(SettingsError):  # what renders the stack reports it
        for each in own_objects.read(folders, root):
            yield each.shown, each.place.rpartition(":")[0]


def _pool(node: NodeSettings) -> str:
    return next((pool for pool in _POOLS if pool in node.roles), _POOLS[-1])
