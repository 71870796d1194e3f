"""Switches: the configuration of each, in the dialect of its operating system."""

from collections.abc import Iterator

from stacks.settings.site.switches import EthernetSwitch
from stacks.site.site import Site
from stacks.site.switch_cables import between
from toolkit.site.groups.switches import dialects
from toolkit.site.output import File, Group, Open


def _render(site: Site) -> Iterator[File | Open]:
    for switch in site.settings.switches:
        dialect = dialects.of(switch)
        yield File(f"switches/{switch.name}.{dialect.suffix}", dialect.text(switch, site), dialect.sources)
        yield from _open(dialect, site, switch)


def _open(dialect: dialects.Dialect, site: Site, switch: dialects.Switch) -> Iterator[Open]:
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
