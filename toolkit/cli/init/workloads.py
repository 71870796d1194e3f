"""The first jobs of a stack, on the GPU nodes that a cluster has, and names of nodes as ranges: gpu[01-04].lab."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolkit.cli.init.decision import Decision

_ON_A_NODE = ("node", "client_node", "server_node")
"""Fields of a workload that name a node."""
_LAST_NUMBER = re.compile(r"^([^.]*?)(\d+)([^.\d]*(?:\..*)?)$")
Parts = tuple[str, str, str]


@dataclass(frozen=True)
class Room:
    """GPU nodes of the example, and ours for its jobs on them."""

    theirs: Sequence[str]
    ours: Sequence[str]
    gpus: int
    """Of one node of the cluster; 0: not known."""
    hcas: Sequence[str]
    """Its compute ports; empty where they are not known."""


def fit(
    stages: Sequence[Mapping[str, Any]], rooms: Mapping[str | None, Room]
) -> tuple[list[dict[str, Any]], list[Decision]]:
    """Return the stages of an example on our GPU nodes, and what of them does not fit.

    Jobs that become equal by having less room are one. `rooms` are by the job's pool, None: a job without one.
    """
    fitted_stages: list[dict[str, Any]] = []
    dropped: list[str] = []
    for stage in stages:
        kept: list[dict[str, Any]] = []
        for workload in _on_nodes(stage.get("workloads", ()), rooms):
            fitted = _fitted(workload, rooms[workload.get("pool")])
            if fitted is None:
                dropped.append(str(workload.get("name") or workload.get("kind")))
            elif fitted not in [*kept, *(workload for entry in fitted_stages for workload in entry["workloads"])]:
                kept.append(fitted)
        if kept:
            fitted_stages.append({**stage, "workloads": kept})
    count = len({name for room in rooms.values() for name in room.ours})
    text = f"left out, as {count} GPU nodes have no room for it: {', '.join(dropped)}"
    return fitted_stages, [Decision(("stages",), text)] if dropped else []


def _on_nodes(workloads: Sequence[Mapping[str, Any]], rooms: Mapping[str | None, Room]) -> Iterator[Mapping[str, Any]]:
    """Yield workloads; those that a range of nodes made of one are one again, on as many nodes of ours, or all."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for workload in workloads:
        groups.setdefault(json.dumps(_as_one(workload), sort_keys=True), []).append(workload)
    for text, same in groups.items():
        if len(same) == 1:
            yield same[0]
            continue
        room = rooms[same[0].get("pool")]
        nodes = room.ours if len(same) == len(room.theirs) else room.ours[: len(same)]
        yield from ({**json.loads(text), "node": node} for node in short(nodes))


def _as_one(workload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a job without its node, of whose name too, if it ends with it: so a range names the jobs that it means."""
    ending = f"-{str(workload.get('node')).partition('.')[0]}"
    name = str(workload.get("name"))
    if workload.get("kind") != "job" or not name.endswith(ending):
        return workload
    return {**{key: value for key, value in workload.items() if key != "node"}, "name": name.removesuffix(ending)}


def _fitted(workload: Mapping[str, Any], room: Room) -> dict[str, Any] | None:
    moved = dict(workload)
    for field in _ON_A_NODE:
        name = workload.get(field)
        if name in room.theirs:
            index = room.theirs.index(name)
            if index >= len(room.ours):
                return None
            moved[field] = room.ours[index]
    if room.hcas and workload.get("hca", room.hcas[0]) not in room.hcas:
        moved["hca"] = room.hcas[0]
    layout = workload.get("layout")
    if room.gpus and isinstance(layout, Mapping):
        fitting = _layout(layout, len(room.ours), room.gpus)
        if fitting is None:
            return None
        moved["layout"] = fitting
    elif room.gpus and workload.get("gpus", 0) > room.gpus:
        moved["gpus"] = room.gpus
    return moved


def _layout(layout: Mapping[str, Any], nodes: int, gpus: int) -> dict[str, Any] | None:
    """Return the layout with as many pods as there is room for."""
    gpus_per_pod = min(layout.get("gpus", 1), gpus)
    pods = min(layout.get("pods", 1), nodes * (gpus // gpus_per_pod) if gpus_per_pod else nodes)
    if pods < 1:
        return None
    spread = {"nodes": min(layout["nodes"], nodes, pods)} if "nodes" in layout else {}
    return {**layout, "pods": pods, "gpus": gpus_per_pod, **spread}


def short(names: Iterable[str]) -> list[str]:
    """Return the names, those with consecutive numbers as one range."""
    return [_written(run) for run in _runs(sorted(names, key=_order))]


def _parts(name: str) -> Parts:
    """Return what is before the last number of the first label, the number, and what is after it."""
    match = _LAST_NUMBER.match(name)
    return (match[1], match[2], match[3]) if match else (name, "", "")


def _order(name: str) -> tuple[str, str, int, str]:
    before, number, after = _parts(name)
    return before, after, int(number or 0), name


def _runs(names: list[str]) -> Iterator[list[Parts]]:
    run: list[Parts] = []
    for parts in map(_parts, names):
        if run and not _follows(run, parts):
            yield run
            run = []
        run.append(parts)
    if run:
        yield run


def _follows(run: list[Parts], parts: Parts) -> bool:
    before, number, after = run[-1]
    if not number or (parts[0], parts[2]) != (before, after):
        return False
    # A range is written with as many digits as its first number has.
    return parts[1] == f"{int(number) + 1:0{len(run[0][1])}d}"


def _written(run: list[Parts]) -> str:
    before, first, after = run[0]
    return f"{before}{first}{after}" if len(run) == 1 else f"{before}[{first}-{run[-1][1]}]{after}"
