"""Levels of the fabric by which Kueue places jobs, and nodes whose place in it changes."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from core.apis.kinds import CLUSTER_QUEUE, NODE, RESOURCE_FLAVOR, TOPOLOGY
from core.apis.topology import HOSTNAME, LABELS
from core.wording import plural
from policies.manifests.values import entries, mapping, read
from toolkit.review.indexed_review import IndexedReview, Side
from toolkit.review.model import Change, Resource
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import enumerated, name, names

_SHOWN = 8


def find(indexed: IndexedReview) -> Section | None:
    """Report queues whose jobs are placed by other levels than before, and nodes that move in the fabric."""
    before, after = (_levels(side) for side in (indexed.before, indexed.after))
    lines = [
        _queue(queue, before[queue], after[queue])
        for queue in sorted(before.keys() & after.keys())
        if before[queue] != after[queue]
    ]
    labels = {*LABELS.values(), *(label for side in (before, after) for levels in side.values() for label in levels)}
    lines += _node_moves(indexed.review.changed, labels)
    return section("Topology-aware placement", lines)


def _queue(queue: str, old: Sequence[str], new: Sequence[str]) -> Line:
    if not new:
        text = f"jobs of {name(queue)} are admitted by quotas alone (was by {_shown(old)}), not by room on nodes"
    else:
        before = _shown(old) if old else "quotas alone"
        text = f"jobs of {name(queue)} are admitted when their pods fit on nodes, by {_shown(new)} (was by {before})"
    return Line(text, ("the flavor is another one; jobs that run were admitted on the former",))


def _shown(labels: Sequence[str]) -> str:
    return enumerated([name(label) for label in labels], _SHOWN)


def _node_moves(changes: Sequence[Change], labels: set[str]) -> Iterator[Line]:
    """Yield where nodes that had a place get another one, those with the same ones together."""
    moves: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for change in changes:
        if change.resource.kind != NODE.kind or not change.before or not change.after:
            continue
        old, new = (mapping(resource.inputs, "metadata", "labels") for resource in (change.before, change.after))
        for label in sorted(labels & old.keys()):
            if old[label] != new.get(label):
                moves[label, str(old[label]), str(new.get(label, "none"))].append(change.resource.object_name)
    for (label, before, after), nodes in sorted(moves.items()):
        text = f"{plural(len(nodes), 'node')} of {name(label)} {name(before)}: {name(after)} now"
        yield Line(text, (names(sorted(nodes), _SHOWN),))


def _levels(side: Side) -> Mapping[str, tuple[str, ...]]:
    """Return the labels of the levels of each ClusterQueue, of all its flavors, from the widest.

    None of one that counts quotas alone.
    """
    topologies = {topology.object_name: _labels(topology) for topology in side.of(TOPOLOGY)}
    flavors = {flavor.object_name: read(flavor.inputs, "spec", "topologyName") for flavor in side.of(RESOURCE_FLAVOR)}
    return {queue.object_name: _of(queue, flavors, topologies) for queue in side.of(CLUSTER_QUEUE)}


def _labels(topology: Resource) -> tuple[str, ...]:
    return tuple(str(read(level, "nodeLabel")) for level in entries(topology.inputs, "spec", "levels"))


def _of(queue: Resource, flavors: Mapping[str, object], topologies: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    named = [
        flavors.get(str(read(flavor, "name")))
        for group in entries(queue.inputs, "spec", "resourceGroups")
        for flavor in entries(group, "flavors")
    ]
    labels = dict.fromkeys(label for topology in named if topology for label in topologies.get(str(topology), ()))
    # Pools have levels of their own, and all of them hosts as the last.
    return tuple(sorted(labels, key=HOSTNAME.__eq__))
