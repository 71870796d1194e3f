"""Nodes that are not the stack's and that its operators and MachineConfigs configure nevertheless.

Selectors of the stack's own objects need a label that only its nodes have; a ClusterPolicy has no selector, and a
MachineConfig is for all nodes of a pool. It only reads.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from components.nodes.node_pool import BUILT_IN
from core.apis import kinds, names
from policies.manifests.values import mapping, read, selects_some
from stacks.settings.gpu import GpuOperatorSettings, SpecialResourceSettings
from stacks.settings.platform import Settings
from toolkit.cli.shared import metadata
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack
from toolkit.review.sentences import bare, quoted, ranges

SETTING = "cluster.shared_nodes"
_DESIRED = "machineconfiguration.openshift.io/desiredConfig"
_RENDERED = re.compile(r"rendered-(.+)-[0-9a-f]+")


@dataclass(frozen=True)
class _Operator:
    what: str
    features: tuple[str, ...]
    """Labels of node feature discovery, of which it needs one."""
    excluding: str = ""
    """Label that keeps it from a node, where its value is false."""

    @property
    def remedy(self) -> str:
        """How to have nodes that it may not configure."""
        label = f", or label them {self.excluding}=false if it does not run there yet" if self.excluding else ""
        return f"Add the nodes to `{SETTING}` if it may configure them, or to `nodes`{label}."

    def excluded(self, node: "Node") -> bool:
        """Whether a node's label keeps it away."""
        return bool(self.excluding) and metadata.labels(node).get(self.excluding) == "false"


_OPERATORS = {
    GpuOperatorSettings: _Operator(
        "ClusterPolicy: the GPU Operator configures every node with NVIDIA's devices, also",
        names.GPU_FEATURES,
        names.GPU_OPERANDS,
    ),
    SpecialResourceSettings: _Operator(
        "SpecialResource: its recipe configures every node with NVIDIA's devices, also", names.GPU_FEATURES[:1]
    ),
}

Node = Mapping[str, Any]


@dataclass(frozen=True)
class Reach:
    """What configures nodes that are not the stack's."""

    what: str
    """Beginning of a sentence that the nodes end."""
    nodes: tuple[str, ...]
    remedy: str
    refused: bool = False
    """Whether an update waits until the settings list the nodes."""

    def text(self, nodes: Collection[str]) -> str:
        """Return a sentence about some of the nodes."""
        return f"{self.what} {ranges(nodes)}"


def require(stack: Stack, cluster: Cluster) -> tuple[str, ...]:
    """Return a sentence for whatever else than the stack's nodes it would configure.

    Raises Problem for nodes that an operator would configure and the settings do not list.
    """
    try:
        reaches = examine(stack.settings, cluster)
    except RefusedError as error:
        return (f"Which nodes beside the stack's it configures could not be determined: {quoted(error.reason)}",)
    shared, sentences, problems = {*stack.settings.cluster.shared_nodes}, list[str](), list[Reach]()
    for reach in reaches:
        unlisted = [node for node in reach.nodes if node not in shared]
        if unlisted and reach.refused:
            problems.append(replace(reach, nodes=tuple(unlisted)))
        elif unlisted:
            sentences.append(f"{reach.text(unlisted)}, which are not the stack's. {reach.remedy}")
        if reach.refused and (listed := sorted({*reach.nodes} - {*unlisted})):
            sentences.append(f"{reach.text(listed)}, as {SETTING} allows.")
    if problems:
        raise Problem(
            f"{stack.platform_file.name} would configure nodes that are not the stack's; nothing was changed\n"
            + "\n".join(bare(reach.text(reach.nodes)) for reach in problems),
            " ".join(reach.remedy for reach in problems),
        )
    return tuple(sentences)


def examine(settings: Settings, cluster: Cluster) -> list[Reach]:
    """Return what a stack configures beside its nodes; nothing for tenants on the platform of another stack.

    Raises RefusedError where nodes or pools may not be listed.
    """
    if not settings.has_platform:
        return []
    own = {node.name for node in settings.nodes}
    others = [node for node in cluster.list(kinds.NODE) if metadata.name(node) not in own]
    if not others:
        return []
    reaches = [*_operators(settings, others), *_pools(settings, others, cluster)]
    return [reach for reach in reaches if reach.nodes]


def _operators(settings: Settings, others: Collection[Node]) -> Iterator[Reach]:
    gpu = settings.gpu
    if not isinstance(gpu, GpuOperatorSettings | SpecialResourceSettings) or gpu.operator.installed:
        return
    operator = _OPERATORS[type(gpu)]
    candidates = [node for node in others if not operator.excluded(node)]
    reached = _names(node for node in candidates if _selected(node, operator.features))
    yield Reach(operator.what, reached, operator.remedy, refused=True)
    unknown = {*_names(node for node in candidates if _unexamined(node))} - {*reached}
    what = f"{operator.what}, where node feature discovery finds some,"
    yield Reach(what, tuple(sorted(unknown)), operator.remedy)


def _selected(node: Node, features: Collection[str]) -> bool:
    """Whether an operator configures a node, or will once node feature discovery runs there."""
    has_gpus = any(key.startswith(names.GPU_RESOURCES) for key in mapping(node, "status", "capacity"))
    labels = metadata.labels(node)
    return any(labels.get(feature) == "true" for feature in features) or (has_gpus and _unexamined(node))


def _unexamined(node: Node) -> bool:
    """Whether node feature discovery has yet to label a worker."""
    labels = metadata.labels(node)
    return names.NODE_ROLE + "worker" in labels and not any(label.startswith(names.NODE_FEATURE) for label in labels)


def _pools(settings: Settings, others: Collection[Node], cluster: Cluster) -> Iterator[Reach]:
    roles = _roles(settings)
    if not roles:
        return
    # A pool of others takes the configuration of the workers as well.
    pools = {
        metadata.name(pool)
        for pool in cluster.list(kinds.MACHINE_CONFIG_POOL)
        if any(
            selects_some(read(pool, "spec", "machineConfigSelector"), {names.MACHINE_CONFIG_ROLE: role})
            for role in roles
        )
    }
    for pool in sorted(pools | roles):
        label = names.NODE_ROLE + pool if pool in roles and pool not in BUILT_IN else None
        yield Reach(
            f"MachineConfigs configure and restart every node of pool {pool}, also",
            _names(node for node in others if _pool(node) == pool or label in metadata.labels(node)),
            f"Give the GPU nodes a pool of their own (`machine_config_pool`), or add the nodes to `{SETTING}`.",
        )


def _roles(settings: Settings) -> set[str]:
    if settings.version.ignition_version is None or settings.cluster.hosted:
        return set()
    workers = {settings.machine_config_pool_of(node) for node in settings.workers} if settings.scale_pods else set()
    return workers | {pool.machine_config_pool for pool in settings.gpu_pools if pool.uses_rdma or pool.tuning}


def _pool(node: Node) -> str:
    """Return the pool that a node has its configuration of; empty before it has one."""
    rendered = _RENDERED.fullmatch(metadata.annotations(node).get(_DESIRED, ""))
    return rendered[1] if rendered else ""


def _names(nodes: Iterable[Node]) -> tuple[str, ...]:
    return tuple(sorted(metadata.name(node) for node in nodes))
