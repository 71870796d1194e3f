"""Switches and cables between the machines, as far as a document plans them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from components.base.scheduling import TopologyLevel
from core.hardware.cabling import ESS3000, SWITCH_PORTS
from core.hardware.fabric import POD_NODES, ComputeFabric, StorageFabric, compute_fabric, ratio, storage_fabric
from stacks.resolved import topology
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from toolkit.cli.hardware.show.section import Row, Section

Planned = ComputeFabric | StorageFabric


def network(pool: Pool, settings: Settings) -> tuple[Section, ...]:
    """Return both fabrics of a POD, the cables of a small cluster, or what little is known."""
    match topology.plan_of(pool, settings):
        case "pods":
            planned = _pods(len(pool.nodes))
        case "one switch":
            planned = (_one_switch(pool),)
        case _:
            planned = (_ports_only(pool),)
    return planned


def levels(settings: Settings) -> Iterator[Section]:
    """Yield the domains of the fabric by which Kueue places pods, where the stack has topology-aware scheduling."""
    rows: list[Row] = []
    fabric_levels: list[TopologyLevel] = []
    for pool in settings.gpu_pools:
        of_pool = topology.levels(pool, settings)
        fabric_levels.extend(level for level in of_pool if level not in fabric_levels)
        for level in of_pool:
            for path, nodes in topology.domains(level.name, pool, settings).items():
                gpus = sum(pool.free[node] for node in nodes)
                rows.append({"level": level.name, "domain": path, "machines": len(nodes), "GPUs for jobs": gpus})
    labels = [
        f"level {level.name}: label {level.key} of the nodes, which "
        + ("they have already" if level.existing else "the stack sets")
        for level in fabric_levels
    ]
    if fabric_levels:
        yield Section("Topology", tuple(rows), tuple(labels))


def _pods(machines: int) -> tuple[Section, ...]:
    """Return the fabrics of as many whole PODs as there are, and of the rest."""
    whole, rest = divmod(machines, POD_NODES)
    pods = Counter({POD_NODES: whole, rest: 1})
    sizes = {size: count for size, count in pods.items() if size and count}
    several = (
        [
            f"{sum(sizes.values())} PODs, each planned by itself: their core switches are distributed over the PODs "
            "and connected directly, and no document has the number of cables or switches between PODs"
        ]
        if sum(sizes.values()) > 1
        else []
    )
    rails = "HCA i of all machines of a unit of 20 is on its leaf i, so that a rail stays on one plane"
    compute = {size: compute_fabric(size) for size in sizes}
    storage = {size: storage_fabric(size) for size in sizes}
    return (
        Section(
            "Compute fabric",
            tuple(row for size, fabric in compute.items() for row in _rows(sizes[size], fabric, _compute(fabric))),
            (*_remarks(compute), *several, rails),
            source="D-3.3",
        ),
        Section(
            "Storage fabric",
            tuple(row for size, fabric in storage.items() for row in _rows(sizes[size], fabric, _storage(fabric))),
            (*_remarks(storage), *map(_subscriptions, storage.values()), *several),
            source="D-3.4",
        ),
    )


def _rows(count: int, planned: Planned, levels: Iterable[Row]) -> Iterator[Row]:
    figures: Row = {"figures": "estimate" if planned.estimate else "as printed"}
    for level in levels:
        yield {"PODs": count, "machines": planned.nodes, **level, **figures}


def _remarks(pods: Mapping[int, Planned]) -> Iterator[str]:
    for size, planned in pods.items():
        yield f"a POD of {size}: {planned.switches} switches of {SWITCH_PORTS} ports, {planned.cables} cables"
        if planned.estimate:
            yield (
                f"estimate: the table has no row for {size} machines; switches above the leaves are the fewest that "
                "have enough ports"
            )


def _compute(planned: ComputeFabric) -> Iterator[Row]:
    yield _level("leaf", planned.leaf, planned.leaf_cables, ratio(planned.leaf_subscription))
    above = planned.spine_subscription
    yield _level("spine", planned.spine, planned.spine_cables, ratio(above) if above is not None else "none above")
    if planned.core:
        yield _level("core", planned.core, planned.core_cables, "none above")


def _storage(planned: StorageFabric) -> Iterator[Row]:
    to_storage = planned.leaf_cables + planned.storage_ports
    yield _level("leaf", planned.leaf, to_storage, ratio(planned.total_subscription))
    yield _level("spine", planned.spine, planned.spine_cables, "none above")


def _subscriptions(planned: StorageFabric) -> str:
    alone, both = ratio(planned.machine_subscription), ratio(planned.total_subscription)
    printed = f"; the table prints {planned.printed_ratio}" if planned.printed_ratio else ""
    return f"subscription of the leaves: {both} with the storage's cables, {alone} of the machines' alone{printed}"


def _level(name: str, switches: int, below: int, subscription: str) -> Row:
    return {"level": name, "switches": switches, "cables from below": below, "subscription": subscription}


def _one_switch(pool: Pool) -> Section:
    """Return the cables of the Redpaper's lab, of which the settings have machines and that there is Scale."""
    name = "Cables to one switch"
    assumed = f"assumed: storage is an ESS3000, and the switch a QM8700 of {SWITCH_PORTS} ports; no setting names them"
    try:
        planned = topology.one_switch(pool)
    except ValueError as error:
        return Section(name, (), (str(error), assumed), source="R-2.1-3")
    hosts: dict[tuple[str, int], list[str]] = {}
    for cable in planned.cables:
        hosts.setdefault((cable.host, cable.rate_gbps), []).append(cable.port)
    rows: tuple[Row, ...] = tuple(
        {"host": host, "cables": len(ports), "ports": tuple(ports), "Gb/s of each": rate}
        for (host, rate), ports in hosts.items()
    )
    notes = (
        f"{len(planned.cables)} cables; bandwidth of the storage to that of the machines {ratio(planned.balance)}",
        f"ibhosts then lists {len(planned.channel_adapters)} channel adapters from every port, and the switch's own",
        f"the {ESS3000.model} reads {ESS3000.gbs} GB/s in {ESS3000.rack_units} units, and its ports carry "
        f"{ESS3000.ports_gbs:g}",
        f"its servers, Storage Scale {ESS3000.scale}: {_servers()}",
        assumed,
    )
    return Section(name, rows, notes, source="R-2.1-3")


def _servers() -> str:
    return "; ".join(
        f"{server.count} x {server.what} with {server.system} ({', '.join(server.roles)})" for server in ESS3000.servers
    )


def _ports_only(pool: Pool) -> Section:
    """Return the cables that the machines' compute ports need; of switches there is nothing."""
    ports, machines = pool.machine.ports, len(pool.nodes)
    row: Row = {"cables of machines": ports.count * machines, "Gb/s of each": ports.rate_gbps, "switches": None}
    what = f"{pool.machine.name} on {pool.fabric.kind}"
    lacks = " without Scale" if pool.fabric.kind == "infiniband" else ""
    return Section("Cables", (row,), (f"no document plans switches for {what}{lacks}",))
