"""What a switch needs to know of its ports: which are one link, and what is on each."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from stacks.settings.site.switches import Switch, in_order
from stacks.site import site as facts
from stacks.site.site import Site


@dataclass(frozen=True)
class Bundle:
    """Ports to one machine that are one link by LACP."""

    number: int
    """From 1, in the order of the ports."""
    host: str
    ports: tuple[str, ...]


def bundles(switch: Switch, site: Site) -> tuple[Bundle, ...]:
    """Return the links by LACP of a switch; none where the machines have no bond."""
    ports: dict[str, list[str]] = {}
    for port in sorted(switch.ports, key=in_order):
        host, _, hca = switch.ports[port].partition("/")
        if hca in site.bonded:
            ports.setdefault(host, []).append(port)
    return tuple(Bundle(number, host, tuple(own)) for number, (host, own) in enumerate(ports.items(), 1))


def single(cabled: Iterable[str], of: tuple[Bundle, ...]) -> tuple[str, ...]:
    """Return the cabled ports that are in no link of several."""
    bundled = {port for bundle in of for port in bundle.ports}
    return tuple(port for port in cabled if port not in bundled)


def peers(switch: Switch, site: Site) -> Mapping[str, str]:
    """Return what is on each cabled port, in the order of the ports."""
    return facts.peers(switch, site.settings.switches)


def full_name(switch: Switch, site: Site) -> str:
    """Return the switch's name with the domain of the site, where it has none itself."""
    domain = site.settings.domain
    return switch.name if "." in switch.name or not domain else f"{switch.name}.{domain}"


def management(switch: Switch, site: Site) -> Iterator[str]:
    """Yield the lines of Onyx that name a switch and reach it."""
    name = full_name(switch, site)
    yield f"hostname {name}"
    if domain := site.settings.domain or name.partition(".")[2]:
        yield f"ip domain-list {domain}"
    yield from (f"ip name-server {server}" for server in site.settings.name_servers)
    if switch.management:
        yield "no interface mgmt0 dhcp"
        yield f"interface mgmt0 ip address {switch.management.ip} /{switch.management.network.prefixlen}"
    if switch.gateway:
        yield f"ip route vrf default 0.0.0.0/0 {switch.gateway}"
