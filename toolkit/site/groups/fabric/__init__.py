"""Fabric: the cables of an InfiniBand network, as a list, for a simulator of it, and for its subnet manager."""

from collections.abc import Iterator

from stacks.site.site import Site
from toolkit.site.groups.fabric import cables, ibsim
from toolkit.site.groups.fabric.cables import Cables
from toolkit.site.output import File, Group, Open

_SOURCES = ("R-2.1-3", "R-3.1-4", "R-3.1-5", "D-3.3", "D-3.6")
_OPENSM = """\
# Only what differs from the defaults of `opensm --create-config FILE`. Leaves and spines are a fat tree; where units
# are not full, opensm does not take them for one, and routes upwards and downwards instead.
routing_engine ftree,updn
"""


def _render(site: Site) -> Iterator[File | Open]:
    if site.fabric != "infiniband":
        return
    fabrics = []
    for fabric in cables.of(site):
        if isinstance(fabric, Open):
            yield fabric
            continue
        fabrics.append(fabric)
        before = f"fabric/{fabric.name}-" if fabric.name else "fabric/"
        sources = ("D-3.4",) if fabric.name else _SOURCES
        yield File(f"{before}cables.csv", _csv(fabric), sources)
        yield from ibsim.files(fabric, f"{before}ibsim.net", sources)
    if any(fabric.trunks for fabric in fabrics):
        yield File("fabric/opensm.conf", _OPENSM, sources=("D-3.3", "D-3.6"))


def _csv(cables: Cables) -> str:
    rows = [("host", "adapter", "device", "switch", "port", "rate_gbps")]
    rows += [
        (link.host, link.adapter, link.device or "", link.switch, link.port, str(link.rate_gbps or ""))
        for link in cables.links
    ]
    rows += [
        (trunk.lower, trunk.lower_port, "", trunk.upper, trunk.upper_port, str(trunk.rate_gbps or ""))
        for trunk in cables.trunks
    ]
    return "".join(f"{','.join(row)}\n" for row in rows)


GROUP = Group("fabric", "cables, network for ibsim, and options of opensm", _render)
