"""Pools and taints of a stack on a cluster with several kinds of GPU machines; an example's pools as plain settings."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from components.base.scheduling import Taint
from components.nodes.node_pool import BUILT_IN
from stacks.resolved.jobs import by_stage
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from stacks.settings.workloads import Started
from toolkit.cli.init.decision import MARK, REVIEW, Decision
from toolkit.cli.init.examples import LAYERS
from toolkit.cli.init.facts import Node
from toolkit.cli.init.machine_kinds import Kind, MachineFile, machines, which
from toolkit.cli.init.machines import Group

_OF_A_POOL = ("machine_config_pool", "ports", "reserve", "tuning", "fabric")
"""Settings that a pool may have instead of the stack."""
_OF_A_MACHINE = ("ports", "reserve")
"""Those that are of one machine alone."""
_NO_FABRIC = {"kind": "none"}
_PLAIN_POOL = BUILT_IN[1]
"""OpenShift's own MachineConfigPool of workers."""
_SHOWN = 3


def nearest(example: Settings, groups: Sequence[Group]) -> Pool:
    """Return the pool of an example whose machine the nodes have, or can be; else its first."""
    possible = machines(groups)
    pools = example.gpu_pools
    return next((pool for pool in pools if pool.nodes[0].machine in possible), pools[0])


def without(settings_of_example: Mapping[str, Any], pool: Pool) -> dict[str, Any]:
    """Return an example's settings without its pools: those of one of them are the stack's."""
    if "pools" not in settings_of_example:
        return dict(settings_of_example)
    own = settings_of_example["pools"][pool.name]
    settings = {key: value for key, value in settings_of_example.items() if key != "pools"}
    return settings | {field: own[field] for field in _OF_A_POOL if field in own}


def in_order(kinds: Sequence[Kind], pool: Pool) -> list[Kind]:
    """Return the kinds, first the one that the example's fabric is for: by ports, its machine, and GPUs."""

    def rank(kind: Kind) -> tuple[bool, bool, bool, int]:
        same = kind.machine == pool.nodes[0].machine
        layer = kind.link_layer is None or pool.fabric.kind in LAYERS[kind.link_layer]
        return kind.ports != 0, layer, same, kind.total_gpus

    return sorted(kinds, key=rank, reverse=True)


def assigned(stages: Sequence[Mapping[str, Any]], example: Settings, kinds: Sequence[Kind]) -> list[dict[str, Any]]:
    """Return an example's stages with the pool of our machines in each job that has one; without `kinds`, with none."""
    own = _stand_ins(example, kinds) if kinds else {}
    assigned_stages: list[dict[str, Any]] = []
    for stage, (_, jobs) in zip(stages, by_stage(example), strict=True):
        workloads = []
        for workload, job in zip(stage.get("workloads", ()), jobs, strict=True):
            plain = {key: value for key, value in workload.items() if key != "pool"}
            named = kinds and isinstance(job.workload, Started)
            workloads.append(plain | ({"pool": own[job.pool.name]} if named else {}))
        assigned_stages.append({**stage, "workloads": workloads})
    return assigned_stages


def rename(tenants: Sequence[dict[str, Any]], example: Settings, kinds: Sequence[Kind]) -> None:
    """Make an example's quotas by its pools quotas by ours, in place."""
    own = _stand_ins(example, kinds)
    for tenant in tenants:
        if isinstance(tenant["gpu_quota"], Mapping):
            sums = Counter[str]()
            for name, amount in tenant["gpu_quota"].items():
                sums[own[name]] += amount
            tenant["gpu_quota"] = dict(sums)


def write(
    settings: dict[str, Any], kinds: Sequence[Kind], files: Sequence[MachineFile], example: Pool
) -> Iterator[Decision]:
    """Write the pools of kinds, in place, the first with all that the stack has; yield what is to be decided."""
    of_machine = {field: settings.pop(field) for field in _OF_A_MACHINE if field in settings}
    first, *_ = kinds
    yield Decision(
        ("pools",),
        "one for each kind of machine. A name is part of the names of objects and stays: give it the name of a purpose "
        "now, here, in `nodes`, `tenants` and `stages` (docs/guide/pools.md)",
        mark=REVIEW,
    )
    of_profile: dict[str | None, MachineFile] = {file.machine: file for file in files}
    for kind in kinds:
        fabric = _is_of_fabric(kind, first, settings["fabric"])
        pool = {"machine": kind.machine} if kind.machine else {}
        pool |= _own(settings, kind, first, fabric=fabric)
        pool |= of_machine if kind.machine == example.nodes[0].machine else {}
        if kind.machine is None:
            pool.setdefault("machine_config_pool", settings.get("machine_config_pool", _PLAIN_POOL))
        settings["pools"][kind.name] = pool
        file = of_profile.get(kind.machine)
        if file or kind.machine is None:
            yield Decision(("pools", kind.name, next(iter(pool))), *which(kind.groups[0], file))
        if not fabric:
            yield Decision(
                ("pools", kind.name, "fabric"),
                f"jobs of one node: its ports are not those of the stack's fabric ({settings['fabric']['kind']}); "
                "give it a fabric of its own where they are on a network for RDMA",
                mark=REVIEW,
            )


def undecided(group: Group, kinds: Sequence[Kind]) -> Decision | None:
    """Return what is to be decided of a group whose machine may be that of a pool, without its place; None: nothing."""
    if not group.may_have_gpus:
        return None
    unknown = ", or none where they have no GPUs" if group.traits.has_gpus is None else ""
    possible = [kind.name for kind in kinds if kind.machine in group.candidates]
    others = [name for name in group.candidates if name not in {kind.machine for kind in kinds}]
    new = f", or add a pool with machine {' or '.join(others)}" if others else ""
    return Decision(
        (),
        f"in which pool these are, which have {group.traits}: uncomment one line{unknown}{new}",
        tuple(f"pool: {name}" for name in possible),
        mark=MARK,
    )


def _own(settings: Mapping[str, Any], kind: Kind, first: Kind, *, fabric: bool) -> dict[str, Any]:
    """Return in what a pool differs from the stack."""
    if kind is first:
        return {} if fabric else {"fabric": dict(_NO_FABRIC)}
    own: dict[str, Any] = {}
    tuned = settings.get("tuning") is not None
    if settings.get("machine_config_pool", _PLAIN_POOL) not in BUILT_IN or tuned:
        # Tuning follows from the machine, so that nodes of two machines are in two pools.
        own["machine_config_pool"] = kind.name if fabric and tuned else _PLAIN_POOL
    if tuned and not fabric:
        own["tuning"] = None
    return own | ({} if fabric else {"fabric": dict(_NO_FABRIC)})


def _is_of_fabric(kind: Kind, first: Kind, fabric: Mapping[str, Any]) -> bool:
    """Whether a kind's ports can be those of the stack's fabric, as those of the first kind are."""
    if fabric["kind"] == "none" or (fabric["kind"] == "ethernet" and not fabric.get("bond")):
        return True
    if kind is first:
        return kind.ports != 0
    layers = {kind.link_layer, first.link_layer} - {None}
    return kind.ports == first.ports and kind.ports != 0 and len(layers) < 2  # noqa: PLR2004 - they differ


def _stand_ins(example: Settings, kinds: Sequence[Kind]) -> dict[str, str]:
    """Return our pool for each of an example's: of the same machine, else with RDMA the first, without the second."""
    first, second, *_ = [kind.name for kind in kinds]
    of_machine = {kind.machine: kind.name for kind in kinds if kind.machine}
    return {
        pool.name: of_machine.get(str(pool.nodes[0].machine)) or (first if pool.uses_rdma else second)
        for pool in example.gpu_pools
    }


def write_taints(settings: dict[str, Any], kinds: Sequence[Kind]) -> Iterator[Decision]:
    """Write the taints that all nodes of a pool have, in place; yield those that only some of them have."""
    for kind in kinds:
        nodes = [node for group in kind.groups for node in group.nodes]
        lacking = _lacking(nodes)
        pool = settings["pools"][kind.name]
        if common := [taint for taint, without in lacking.items() if not without]:
            pool["taints"] = [taint.manifest() for taint in common]
        for taint, without in lacking.items():
            if without:
                shown = f"{', '.join(without[:_SHOWN])}{' and others' if len(without) > _SHOWN else ''}"
                yield Decision(
                    ("pools", kind.name, next(iter(pool))),
                    f"the taint {taint} is on some of its nodes, and not on {shown}; nodes of a pool have the same "
                    "(docs/guide/pools.md#taints)",
                    mark=REVIEW,
                )


def without_pools(settings: Mapping[str, Any], names: Sequence[str], nodes: Sequence[Node]) -> Iterator[Decision]:
    """Yield what is to be done about taints of the GPU nodes, by name, of a stack without pools."""
    every = list(_lacking([node for node in nodes if node.name in names]))
    place = next((index for index, node in enumerate(settings["nodes"]) if "machine" in node), None)
    if every and place is not None:
        yield Decision(
            ("nodes", place, "roles"),
            f"nodes with GPUs have the taint {' and '.join(map(str, every))}, which jobs of a stack without `pools` do "
            "not tolerate: give these nodes a pool with `taints`, or remove it (docs/guide/pools.md#taints)",
        )


def _lacking(nodes: Sequence[Node]) -> dict[Taint, list[str]]:
    """Return each taint with the names of the nodes that lack it."""
    every = dict.fromkeys(taint for node in nodes for taint in node.taints)
    return {taint: [node.name for node in nodes if taint not in node.taints] for taint in every}
