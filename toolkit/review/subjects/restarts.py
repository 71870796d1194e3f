"""Nodes that restart because their pool gets another configuration: how many, how long, and which jobs that hits."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from core.apis.kinds import KUBELET_CONFIG, MACHINE_CONFIG, MACHINE_CONFIG_POOL, NODE, TUNED
from core.apis.names import MACHINE_CONFIG_POOL as POOL_LABEL
from core.apis.names import MACHINE_CONFIG_ROLE, NODE_ROLE
from core.wording import plural
from policies.manifests.values import entries, mapping, read, selects_some
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.model import Change, Op, Resource, finished, status_source
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import enumerated, name, names, title
from toolkit.review.subjects.capacity import JOBS, claims

_BUILT_IN = ("master", "worker")


def find(indexed: IndexedReview) -> Section | None:
    """Report which pools restart their nodes."""
    causes: dict[str, list[str]] = defaultdict(list)
    nodes_of_pool: dict[str, set[str]] = defaultdict(set)
    for change in indexed.changed(MACHINE_CONFIG, KUBELET_CONFIG, MACHINE_CONFIG_POOL, TUNED):
        for pool in _pools(change, indexed):
            causes[pool].append(f"{title(change.resource)} is {indexed.participle(change)}")
            nodes_of_pool.pop(pool, None)
    whole_pools = set(causes)
    for change in indexed.review.changed:
        for pool, words in _joins(change):
            if pool not in whole_pools:
                causes[pool].append(words)
                nodes_of_pool[pool].add(change.resource.object_name)
    lines = [_line(pool, causes[pool], nodes_of_pool.get(pool), indexed) for pool in sorted(causes)]
    lines += [line for change in indexed.changed(MACHINE_CONFIG_POOL) for line in _rates(change)]
    return section("Nodes that restart", lines, vital=True)


def _line(pool: str, causes: list[str], only: set[str] | None, indexed: IndexedReview) -> Line:
    facts = indexed.facts
    nodes = [node for node in facts.in_pool(pool) if only is None or node.name in only]
    details = [enumerated(causes, 8)]
    if _paused(pool, indexed):
        return Line(f"pool {name(pool)} is paused: its nodes restart when it no longer is", tuple(details), alarm=True)
    if nodes:
        at_once = _at_once(facts.at_once(pool), len(nodes))
        minutes = -(-len(nodes) // at_once) * facts.reboot_minutes
        restart = "drains and restarts" if len(nodes) == 1 else "drain and restart"
        turn = "one after another" if at_once == 1 else f"{at_once:,} at a time"
        duration = f", {turn}, about {_duration(minutes)} in all" if len(nodes) > 1 else f", about {_duration(minutes)}"
        text = f"pool {name(pool)}: {plural(len(nodes), 'node')} {restart}{duration}"
        details.append(f"nodes {names((node.name for node in nodes), 8)}")
    else:
        text = f"pool {name(pool)}: its nodes drain and restart; how many it has is unknown"
    if any(node.gpus for node in nodes) or not nodes:
        details.append(interrupted_jobs(indexed))
    return Line(text, tuple(details), alarm=True)


def interrupted_jobs(indexed: IndexedReview) -> str:
    """Return which jobs on nodes with GPUs lose their pods."""
    now = indexed.after if indexed.review.drift else indexed.before
    jobs = [job for job in now.of(*JOBS) if claims(job, indexed)]
    running = [job for job in jobs if finished(job) is False]
    unknown = [job for job in jobs if finished(job) is None]
    if running:
        shown = enumerated([title(job) for job in running], 8)
        return f"jobs that have not finished{status_source(running)}, and lose their pods: {shown}"
    if unknown and indexed.review.cluster_queried:
        return f"whether {plural(len(unknown), 'job')} of the stack still run is unknown: restarts end their pods"
    if unknown:
        return "which jobs run is unknown: restarts end their pods"
    return "no job of the stack is known to run"


def _pools(change: Change, indexed: IndexedReview) -> Iterator[str]:
    kind = change.resource.kind
    if kind == TUNED.kind:
        yield from _tuned(change)
    elif kind == MACHINE_CONFIG_POOL.kind:
        if _spec(change.before, "machineConfigSelector", "nodeSelector") != _spec(
            change.after, "machineConfigSelector", "nodeSelector"
        ):
            yield change.resource.object_name
    elif change.op is not Op.FORGET and _spec(change.before) != _spec(change.after):
        find_pools = _of_config if kind == MACHINE_CONFIG.kind else _of_kubelet
        yield from sorted(
            {pool for resource in (change.before, change.after) if resource for pool in find_pools(resource, indexed)}
        )


def _of_config(resource: Resource, indexed: IndexedReview) -> Iterator[str]:
    labels = mapping(resource.inputs, "metadata", "labels")
    role = labels.get(MACHINE_CONFIG_ROLE)
    if role in _BUILT_IN:
        yield str(role)
    for pool in indexed.after.of(MACHINE_CONFIG_POOL):
        if selects_some(read(pool.inputs, "spec", "machineConfigSelector"), labels):
            yield pool.object_name
    if isinstance(role, str) and role not in _BUILT_IN and not indexed.after.of(MACHINE_CONFIG_POOL):
        yield role


def _of_kubelet(resource: Resource, indexed: IndexedReview) -> Iterator[str]:
    selector = read(resource.inputs, "spec", "machineConfigPoolSelector")
    for pool in _BUILT_IN:
        if selects_some(selector, {f"{POOL_LABEL}{pool}": ""}):
            yield pool
    for pool_config in indexed.after.of(MACHINE_CONFIG_POOL):
        if selects_some(selector, mapping(pool_config.inputs, "metadata", "labels")):
            yield pool_config.object_name


def _tuned(change: Change) -> Iterator[str]:
    """Yield the pools whose kernel arguments a profile sets: all else of it takes effect at once."""
    texts = [str(read(resource.inputs, "spec", "profile")) for resource in (change.before, change.after) if resource]
    if texts[0] == texts[-1] and len(texts) > 1:
        return
    if any("[bootloader]" in text for text in texts):
        for entry in entries(change.resource.inputs, "spec", "recommend"):
            role = read(entry, "machineConfigLabels", MACHINE_CONFIG_ROLE)
            if isinstance(role, str):
                yield role


def _joins(change: Change) -> Iterator[tuple[str, str]]:
    resource = change.resource
    if resource.kind != NODE.kind or not resource.is_object:
        return
    before, after = (
        {
            label.removeprefix(NODE_ROLE)
            for label in mapping(resource.inputs if resource else {}, "metadata", "labels")
            if label.startswith(NODE_ROLE)
        }
        for resource in (change.before, change.after)
    )
    for role in sorted(after - before):
        yield role, f"node {name(resource.object_name)} joins"
    for role in sorted(before - after):
        yield role, f"node {name(resource.object_name)} leaves"


def _rates(change: Change) -> Iterator[Line]:
    before, after = (_spec(resource, "maxUnavailable", "paused") for resource in (change.before, change.after))
    if change.before and change.after and before != after:
        old, new = (
            f"{(side[0] if side[0] is not None else 1)} at a time{', paused' if side[1] else ''}"
            for side in (before, after)
        )
        yield Line(f"pool {name(change.resource.object_name)} restarts nodes {name(new)} (was {name(old)})")


def _paused(pool: str, indexed: IndexedReview) -> bool:
    pools = indexed.after.of(MACHINE_CONFIG_POOL)
    return any(
        config_pool.object_name == pool and read(config_pool.inputs, "spec", "paused") is True for config_pool in pools
    )


def _at_once(share: str, nodes: int) -> int:
    """Return how many nodes a number or a share means, as the operator takes it: at least one."""
    digits = share.removesuffix("%")
    if not digits.isdecimal():
        return 1
    return max(1, nodes * int(digits) // 100 if share.endswith("%") else int(digits))


def _duration(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    if not hours:
        return plural(minutes, "minute")
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def _spec(resource: Resource | None, *keys: str) -> Any:
    if resource is None:
        return tuple(None for _ in keys) if keys else None
    spec = read(resource.inputs, "spec")
    return tuple(read(spec, key) for key in keys) if keys else spec
