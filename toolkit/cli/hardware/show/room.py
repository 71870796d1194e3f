"""Racks and power for machines, and the parts that a document lists for them."""

from pydantic import Field

from core.model import Model
from stacks.settings.resolved_pool import Pool
from toolkit.cli.hardware.show import bom
from toolkit.cli.hardware.show.section import Row, Section
from toolkit.cli.shared.errors import Problem


class Rack(Model):
    """What a rack offers to machines. No source document gives it: it is the site's."""

    units: int = Field(gt=0, description="rack units for machines, without those of switches and power strips")
    watts: int = Field(gt=0, description="power and cooling, W")


def space(pool: Pool, rack: Rack | None) -> Section:
    """Return power and height of the machines and, with a rack, how many racks; raise Problem if none fits."""
    profile, machines = pool.machine, len(pool.nodes)
    watts, units = profile.power_watts, profile.rack_units
    row: dict[str, int | str | None] = {
        "W of each machine": watts,
        "W of all": watts * machines if watts is not None else None,
        "rack units of each machine": units,
        "rack units of all": units * machines if units is not None else None,
    }
    notes = ["GPU nodes alone, at the most that they draw; switches, storage and cooling come on top"]
    if watts is None or units is None:
        missing = " and ".join(name for name, value in (("power", watts), ("height", units)) if value is None)
        notes = [
            f"no document gives the {missing} of {profile.name}, so that racks cannot be counted; a "
            "machine file of your own may give power_watts and rack_units (`machines`)"
        ]
    elif rack is None:
        notes.append("racks: describe one with --rack-units and --rack-watts; no document does")
    else:
        per_rack = min(rack.units // units, rack.watts // watts)
        if per_rack < 1:
            raise Problem(
                f"a rack of {rack.units} units and {rack.watts} W holds no {profile.name}, which has {units} units and "
                f"draws {watts} W",
                "Give a rack with more, by --rack-units and --rack-watts.",
            )
        row |= {"machines in a rack": per_rack, "racks": -(-machines // per_rack)}
    return Section("Room", (row,), tuple(notes), source="D-3.9")


def parts(pool: Pool) -> tuple[Section, ...]:
    """Return the nodes of a reference design's list of parts for its own machines; nothing for others."""
    bill = bom.BILLS.get(pool.machine.reference_design or "")
    if bill is None:
        return ()
    rows: tuple[Row, ...] = tuple(
        {"role": role, "nodes": count, **_node(bill.nodes.get(role))} for role, count in bill.roles.items()
    )
    total, listed, nodes = bom.total(bill), bill.roles["gpu"], len(pool.nodes)
    notes = [
        f"{total.nodes} nodes with parts: {total.cores} cores, {total.memory_gib} GiB, drives of {total.raw_gb} GB, "
        f"{total.gpus} GPUs, and {total.ports_25} ports of 25 Gb/s that switches must have",
        *([f"switches: {'; '.join(map(str, bill.switches))}"] if bill.switches else []),
        *(f"the list does not agree with itself: {text}" for text in bom.differences(bill)),
        *bom.against(bill.nodes["gpu"], pool.machine),
    ]
    if listed != nodes:
        notes.append(f"the list has {listed} GPU nodes, the stack {nodes}")
    return (Section("List of parts", rows, tuple(notes), source=bill.source),)


def _node(node: bom.Node | None) -> Row:
    if node is None:
        return dict.fromkeys(("cores", "memory, GiB", "drives, GB", "GPUs", "25 Gb/s ports"))
    return {
        "cores": node.cpus.count * node.cpus.cores,
        "memory, GiB": node.memory.gib,
        "drives, GB": sum(drives.raw_gb for drives in node.drives),
        "GPUs": node.gpus,
        "25 Gb/s ports": node.ports(25),
    }
