"""Switches: the configuration of each, in the dialect of its system, and by what its statements are compared."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stacks.settings.site.switches import Comware, EthernetSwitch, Nvue, OnyxEthernet, OnyxInfiniBand, Switch
from stacks.site.site import Site, between
from toolkit.site.groups.switches import comware, nvue, onyx, onyx_statements
from toolkit.site.output import File, Group, Open
from toolkit.site.statements import Statements


@dataclass(frozen=True)
class Dialect:
    """One dialect."""

    suffix: str
    """Of the file's name."""
    sources: tuple[str, ...]
    text: Callable[[Any, Site], str]
    """The file of a switch."""
    statements: Callable[[Any, Site], Mapping[str, str]]
    """What its running configuration has then: what is configured -> the statement."""
    running: Callable[[Iterable[str]], Statements]
    """The same of lines that a switch printed; of NVUE, of leaves as `path: value`."""
    missing: Callable[[Any], Iterator[Open]] = lambda _: iter(())


DIALECTS: Mapping[type, Dialect] = {
    OnyxInfiniBand: Dialect(
        "onyx",
        sources=("R-3.1-1", "R-3.1-2", "E-07", "E-08"),
        text=onyx.infiniband,
        statements=onyx.infiniband_statements,
        running=onyx_statements.parse,
    ),
    OnyxEthernet: Dialect(
        "onyx",
        sources=("N-1.1", "N-1.2", "N-1.3", "E-45"),
        text=onyx.ethernet,
        statements=onyx.ethernet_statements,
        running=onyx_statements.parse,
    ),
    Nvue: Dialect(
        "nvue.yaml", sources=("N-1.4", "N-1.2", "N-1.3"), text=nvue.text, statements=nvue.statements, running=nvue.parse
    ),
    Comware: Dialect(
        "comware",
        sources=("B-2.2", "B-2.3"),
        text=comware.text,
        statements=comware.statements,
        running=comware.parse,
        missing=comware.missing,
    ),
}


def of(switch: Switch) -> Dialect:
    """Return the dialect of a switch."""
    return DIALECTS[type(switch)]


def _render(site: Site) -> Iterator[File | Open]:
    for switch in site.settings.switches:
        dialect = of(switch)
        yield File(f"switches/{switch.name}.{dialect.suffix}", dialect.text(switch, site), dialect.sources)
        yield from _open(dialect, site, switch)


def _open(dialect: Dialect, site: Site, switch: Switch) -> Iterator[Open]:
    at = f"site.switches, {switch.name}"
    cables = [trunk for trunk in between(site.settings.switches) if switch.name in (trunk.lower, trunk.upper)]
    if not (switch.ports or switch.others or cables):
        yield Open(f"{at}: which ports are cabled", "give ports, PORT: HOST/HCA")
    if switch.management and not switch.gateway:
        yield Open(f"{at}: the default route", "give gateway")
    if isinstance(switch, EthernetSwitch) and not switch.vlan:
        yield Open(f"{at}: the VLAN of its ports, which stay as they are", "give vlan")
    if isinstance(switch, EthernetSwitch) and switch.vlan and cables:
        yield Open(
            f"{at}: how VLAN {switch.vlan} passes its ports to other switches",
            "set it on the switch: no document has the commands",
        )
    if not site.settings.name_servers:
        yield Open(f"{at}: its DNS servers", "give site.name_servers")
    yield from (Open(f"{at}: {gap.what}", gap.remedy) for gap in dialect.missing(switch))


GROUP = Group("switches", "configurations of the switches", _render)
