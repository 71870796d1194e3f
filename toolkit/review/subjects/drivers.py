"""Drivers of GPUs and networks that operators load: another version means that pods with devices end on every node."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.apis import kinds
from core.apis.kinds import Kind
from core.wording import plural
from policies.manifests.values import brief, mapping, read
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.model import Change, Op
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import name, names, title


@dataclass(frozen=True)
class _Driver:
    kind: Kind
    path: tuple[str, ...]
    """Below `spec`; none where the whole object is a driver of some nodes."""
    words: str
    of_some: bool = False
    """Whether it is the driver of the object's own nodes, not of all."""


_DRIVERS = (
    _Driver(kinds.CLUSTER_POLICY, ("driver",), "GPU driver"),
    _Driver(kinds.NVIDIA_DRIVER, (), "GPU driver", of_some=True),
    _Driver(kinds.NIC_CLUSTER_POLICY, ("ofedDriver",), "network driver"),
    _Driver(kinds.NIC_NODE_POLICY, ("ofedDriver",), "network driver", of_some=True),
)
_UPGRADE = "upgradePolicy"
_OBJECTS = "useNvidiaDriverCRD"
_POLICIES = (
    kinds.CLUSTER_POLICY,
    kinds.GPU_CLUSTER,
    kinds.NVIDIA_DRIVER,
    kinds.NIC_CLUSTER_POLICY,
    kinds.NIC_NODE_POLICY,
    kinds.SPECIAL_RESOURCE_V1ALPHA1,
)


def find(indexed: IndexedReview) -> Section | None:
    """Report which drivers change, and what else an operator's policy does to its pods."""
    lines = [line for change in indexed.changed(*_POLICIES) for line in _lines(change, indexed)]
    return section("GPU and network drivers", lines)


def _lines(change: Change, indexed: IndexedReview) -> Iterator[Line]:
    if change.before is None or change.after is None:
        if change.op in (Op.CREATE, Op.DELETE):
            yield from _whole(change)
        return
    before, after = (read(resource.inputs, "spec") for resource in (change.before, change.after))
    paths = []
    for driver in _DRIVERS:
        if change.resource.kind == driver.kind.kind:
            old, new = (_without_policy(read(side, *driver.path)) for side in (before, after))
            paths += list(driver.path or (*mapping(before), *mapping(after)))
            if old != new and read(new, _OBJECTS) is True:
                yield _from_objects(driver, "NVIDIADrivers")
            elif old and not new and not driver.of_some and _new(kinds.NIC_NODE_POLICY, indexed):
                yield _from_objects(driver, "NicNodePolicies")
            elif old != new:
                on = f" of {title(change.resource)}" if driver.of_some else _nodes(indexed)
                yield _driver(driver, old, new, read(after, *driver.path, _UPGRADE, "autoUpgrade") is True, on)
    others = sorted(
        key
        for key in {*mapping(before), *mapping(after)}
        if key not in paths and mapping(before).get(key) != mapping(after).get(key)
    )
    if others:
        yield Line(f"{title(change.resource)} changes {names(others, 8)}: its operator starts those pods again")


def _whole(change: Change) -> Iterator[Line]:
    spec = read(change.resource.inputs, "spec")
    versions = [
        f"{driver.words} {name(version)}"
        for driver in _DRIVERS
        if driver.kind.kind == change.resource.kind and (version := read(spec, *driver.path, "version")) is not None
    ]
    brings = f", with {' and '.join(versions)}" if versions else ""
    if change.op is Op.CREATE:
        yield Line(f"{title(change.resource)} is new{brings}: its operator loads drivers and device plugins")
    else:
        yield Line(
            f"{title(change.resource)} is deleted{brings}: GPUs or RDMA devices leave the nodes, their pods end",
            alarm=True,
        )


def _from_objects(driver: _Driver, objects: str) -> Line:
    return Line(f"{driver.words} comes from {objects}, whose pods replace those of now", alarm=True)


def _new(kind: Kind, indexed: IndexedReview) -> bool:
    return any(change.op is Op.CREATE for change in indexed.changed(kind))


def _nodes(indexed: IndexedReview) -> str:
    nodes = sum(node.gpus > 0 for node in indexed.facts.nodes)
    return f" on {plural(nodes, 'node')}" if nodes else ""


def _driver(driver: _Driver, was: Any, will: Any, automatic: bool, on: str) -> Line:
    if not will:
        return Line(f"{driver.words} is no longer loaded by the operator{on}", alarm=True)
    old, new = (read(side, "version") for side in (was, will))
    what = f"{name(new)} (was {_shown(old)})" if old != new else f"{name(new)} stays, and is loaded in another way"
    details = [
        f"{name(key)}: {_shown(mapping(will).get(key))} (was {_shown(mapping(was).get(key))})"
        for key in sorted({*mapping(was), *mapping(will)})
        if key != "version" and mapping(was).get(key) != mapping(will).get(key)
    ]
    if automatic:
        how = "the operator deletes the pods with devices and loads it, node by node"
    else:
        how = "each node loads it when its driver's pod is restarted, as automatic upgrades are off"
    return Line(f"{driver.words} {what}{on}: {how}", tuple(details), alarm=automatic)


def _shown(value: Any) -> str:
    return "none" if value is None else name(value if isinstance(value, str) else brief(value))


def _without_policy(value: Any) -> Any:
    return {key: item for key, item in value.items() if key != _UPGRADE} if isinstance(value, Mapping) else value
