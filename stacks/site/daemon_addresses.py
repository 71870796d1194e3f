"""Addresses of Storage Scale's daemons, by IP over InfiniBand."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address

from stacks.settings.site.networks import DaemonNetwork, unfit
from stacks.site.site import Host, Site


@dataclass(frozen=True)
class Address:
    """A host's address, and how it was found."""

    host: Host
    interface: str | None
    """Network interface of the port; None: no source names it."""
    address: IPv4Address | None
    """None: neither given, nor can it follow."""
    given: bool


def plan(site: Site) -> tuple[Address, ...]:
    """Return the GPU hosts' addresses; none without a daemon network.

    An address that is not given has the same place in its network as the host's address in the admin network.
    """
    network = site.given.networks.daemon
    return tuple(_planned(site, host, network) for host in site.gpu_hosts) if network else ()


def _planned(site: Site, host: Host, network: DaemonNetwork) -> Address:
    given = network.addresses.get(host.name)
    return Address(
        host, _interface(site, host, network.port), given or _follows(site, host, network), given is not None
    )


def _interface(site: Site, host: Host, port: str) -> str | None:
    names = [each.name for each in host.ports]
    if port not in names:
        return None
    index = names.index(port)
    rails = site.on_hosts.interfaces
    return rails[index] if index < len(rails) else host.ports[index].netdev


def _follows(site: Site, host: Host, network: DaemonNetwork) -> IPv4Address | None:
    admin, address = site.given.networks.admin, site.admin_address(host)
    if admin is None or address is None:
        return None
    place = int(address) - int(admin.network.network_address)
    return network.network[place] if place < network.network.num_addresses else None


def problems(site: Site) -> Iterator[str]:
    """Yield addresses that follow and cannot be: outside of the network, or taken."""
    network = site.given.networks.daemon
    if network is None:
        return
    taken = dict.fromkeys(network.taken, "another machine (taken)")
    for each in sorted(plan(site), key=lambda one: not one.given):
        if each.address is None:
            continue
        problem = None if each.given else unfit(each.address, network.network)
        if each.address in taken:
            problem = f"{each.address} is taken by {taken[each.address]}; give another one"
        if problem:
            yield f"addresses.{each.host.name}: {problem}"
        taken.setdefault(each.address, each.host.name)
