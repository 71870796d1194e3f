"""Operators that come, go, or follow another channel: what OLM does then, and what that does to nodes and jobs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apis.kinds import SUBSCRIPTION
from policies.values import read
from review.model import Change, Op, Resource
from review.section import Line, Section, section
from review.subjects.restarts import hit
from review.words import count, name
from review.worlds import Worlds

_FIELDS = {
    "name": "package",
    "channel": "channel",
    "startingCSV": "first version",
    "source": "catalogue",
    "sourceNamespace": "namespace of the catalogue",
    "installPlanApproval": "approval of updates",
}
_UPGRADING = ("name", "channel", "source", "sourceNamespace")
"""Fields by which OLM comes to another version of what is installed; it reads the first version never again."""


@dataclass(frozen=True)
class _Follows:
    """What the upgrade of one package does: `{nodes}` stands for the nodes that it is about."""

    words: str
    nodes: str = "every node"
    """Nodes with which devices, or which nodes otherwise."""
    jobs: bool = False
    """Whether jobs lose devices by it."""


_GPUS, _RDMA = "GPUs", "RDMA devices"
_PACKAGES: Mapping[str, _Follows] = {
    "gpu-operator-certified": _Follows(
        "GPU drivers and device plugins start again, node by node, on {nodes}: jobs there lose their GPUs", _GPUS, True
    ),
    "nvidia-network-operator": _Follows(
        "network drivers and RDMA device plugins start again, node by node, on {nodes}: jobs there lose their network",
        _RDMA,
        True,
    ),
    "nfd": _Follows(
        "its pods start again on {nodes} and label it anew: what is placed by labels of a name that the new version "
        "does not give starts no more"
    ),
    "ibm-spectrum-scale-csi-operator": _Follows(
        "the driver's pods start again on {nodes}: mounted volumes stay, pods that start meanwhile wait for theirs"
    ),
    "special-resource-operator": _Follows(
        "the drivers that it builds start again, node by node, on {nodes}: jobs there lose their GPUs", _GPUS, True
    ),
    "openshift-cert-manager-operator": _Follows("certificates that are due meanwhile are renewed when it is back"),
    "kueue-operator": _Follows("Kueue starts again: jobs that run go on, new ones wait until it is back"),
    "kubernetes-nmstate-operator": _Follows(
        "its handlers start again on {nodes} and apply the declared network anew: who manages it differently cuts "
        "nodes off"
    ),
}


def find(worlds: Worlds) -> Section | None:
    """Say which operators change."""
    lines = [line for change in worlds.changed(SUBSCRIPTION) if (line := _line(change, worlds)) is not None]
    return section("Operators", lines, vital=any(line.alarm for line in lines))


def _line(change: Change, worlds: Worlds) -> Line | None:
    package = _text(change.resource, "name") or change.resource.object_name
    who = f"{name(package)} in namespace {name(change.resource.namespace)}"
    if change.before is None and change.after:
        by_hand = ", updates wait for approval" if _text(change.after, "installPlanApproval") == "Manual" else ""
        return Line(f"{who} is installed from channel {name(_text(change.after, 'channel'))}{by_hand}")
    if change.op is Op.DELETE:
        return Line(f"{who} is no longer subscribed to; what OLM installed stays until its version is deleted")
    if change.before is None or change.after is None:
        return None
    moved = []
    for field, words in _FIELDS.items():
        was, will = _text(change.before, field), _text(change.after, field)
        if was != will:
            moved.append(f"{words} {_shown(will)} (was {_shown(was)})")
    if [field for field in _FIELDS if _text(change.before, field) != _text(change.after, field)] == ["startingCSV"]:
        moved.append("which OLM reads at the first installation alone")
    again = ", and is subscribed to anew" if change.op is Op.REPLACE else ""
    if not moved:
        return None
    details = () if worlds.review.drift else tuple(_follows(change.before, change.after, package, worlds))
    return Line(f"{who}: {', '.join(moved)}{again}", details, alarm=bool(details))


def _follows(before: Resource, after: Resource, package: str, worlds: Worlds) -> Iterator[str]:
    """Yield what OLM, the operator and its operands do; nothing where the change leads to no other version."""
    by_hand = _text(after, "installPlanApproval") == "Manual"
    upgrades = any(_text(before, field) != _text(after, field) for field in _UPGRADING)
    released = not by_hand and _text(before, "installPlanApproval") == "Manual"
    if not upgrades and not released:
        return
    if by_hand:
        yield "OLM waits until somebody approves the install plan (approval Manual); what is below follows then"
    elif upgrades:
        yield "OLM upgrades the operator at once, as far as the channel goes (approval Automatic)"
    else:
        yield "OLM installs at once what has waited for approval, and from now on every new version"
    yield "the operator starts again in its new version, and brings what it runs to the version that this one has"
    known = _PACKAGES.get(package)
    if known is None:
        return
    yield known.words.format(nodes=_nodes(known.nodes, worlds))
    if known.jobs:
        yield hit(worlds)


def _nodes(which: str, worlds: Worlds) -> str:
    nodes = worlds.facts.nodes
    if which in (_GPUS, _RDMA):
        having = [node for node in nodes if (node.gpus if which == _GPUS else node.rdma)]
        return f"{count(len(having), 'node')} with {which}" if having else f"every node with {which}"
    return which


def _text(resource: Resource, field: str) -> str:
    value: Any = read(resource.inputs, "spec", field)
    return "" if value is None else str(value)


def _shown(text: str) -> str:
    return name(text) if text else "none"
