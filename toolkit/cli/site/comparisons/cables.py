"""The cables that a subnet has, against those that the settings or a document plan."""

from stacks.site.site import Site
from toolkit.cli.shared.errors import Problem
from toolkit.cli.site.comparison import Compared, Comparison, compared, of_kind
from toolkit.evidence.model import Reading
from toolkit.evidence.tools.subnet import IbNetDiscover
from toolkit.site.groups.fabric import cables
from toolkit.site.groups.fabric.cables import Cables
from toolkit.site.groups.fabric.statements import Plan, Port, adapter_name, switch_name
from toolkit.site.output import Open
from toolkit.site.statements import Statements


def _compare(reading: Reading, site: Site) -> Compared:
    topology_reading = of_kind(reading, IbNetDiscover)
    rows = [row for row in topology_reading.rows if row.of_switch and not row.aggregation_node]
    names = {switch_name(row.node) for row in rows}
    planned = _planned(topology_reading, site, names)
    plan = Plan(planned, names)
    links = {
        adapter_name(row.peer, row.peer_port): Port(switch_name(row.node), row.port)
        for row in rows
        if not row.to_switch
    }
    trunks = [
        (Port(switch_name(row.node), row.port), Port(switch_name(row.peer), row.peer_port))
        for row in rows
        if row.to_switch and (row.node_id, row.port) < (row.peer_id, row.peer_port)
    ]
    what = f"{planned.name} fabric".strip()
    return compared(what, plan.planned(), Statements(plan.of(links, trunks)))


def _planned(reading: IbNetDiscover, site: Site, names: set[str]) -> Cables:
    """Return the cables of the fabric that has most of these switches; raise Problem where none has one."""
    if site.fabric != "infiniband":
        raise Problem(
            f"{reading.file}: {reading.tool} lists InfiniBand, and fabric of stack {site.stack} is {site.fabric}",
            "Name a stack of InfiniBand with --stack.",
        )
    planned = [*cables.of(site)]
    fabrics = [fabric for fabric in planned if isinstance(fabric, Cables)]
    if not fabrics:
        first = next(fabric for fabric in planned if isinstance(fabric, Open))
        raise Problem(f"{reading.file}: open in stack {site.stack}: {first.what}", f"To compare, {first.remedy}.")
    best = max(fabrics, key=lambda fabric: (len(names & {*map(switch_name, fabric.ports)}), not fabric.name))
    if not names & {*map(switch_name, best.ports)}:
        ports = ", ".join([*best.ports][:_SHOWN])
        raise Problem(
            f"{reading.file}: none of its switches ({', '.join(sorted(names)[:_SHOWN])}) is one of {ports}",
            "Name the switches in site.switches as the subnet describes them, or another stack with --stack.",
        )
    return best


_SHOWN = 4
"""Switches that a message names, at most."""


COMPARISON = Comparison(("ibnetdiscover",), _compare)
