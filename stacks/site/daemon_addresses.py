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
    from_settings: bool


def plan(site: Site) -> tuple[Address, ...]:
    """Return the GPU hosts' addresses; none without a daemon network.

    An address that is not given has the same place in its network as the host's address in the admin network.
    """
    network = site.settings.networks.daemon
    return tuple(_address(site, host, network) for host in site.gpu_hosts) if network else ()


def _address(site: Site, host: Host, network: DaemonNetwork) -> Address:
    address = network.addresses.get(host.name)
    return Address(
        host,
        _interface(site, host, network.port),
        address or _derived_address(site, host, network),
        address is not None,
    )


def _interface(site: Site, host: Host, port: str) -> str | None:
    names = [host_port.name for host_port in host.ports]
    if port not in names:
        return None
    index = names.index(port)
    rails = site.on_hosts.interfaces
    return rails[index] if index < len(rails) else host.ports[index].netdev


def _derived_address(site: Site, host: Host, network: DaemonNetwork) -> IPv4Address | None:
    admin, address = site.settings.networks.admin, site.admin_address(host)
    if admin is None or address is None:
        return None
    place = int(address) - int(admin.network.network_address)
    return network.network[place] if place < network.network.num_addresses else None


def problems(site: Site) -> Iterator[str]:
    """Yield addresses that follow and cannot be: outside of the network, or taken."""
    network = site.settings.networks.daemon
    if network is None:
        return
    taken = dict.fromkeys(network.taken, "another machine (taken)")
    for entry in sorted(plan(site), key=lambda entry: not entry.from_settings):
        if entry.address is None:
            continue
        problem = None if entry.from_settings else unfit(entry.address, network.network)
        if entry.address in taken:
            problem = f"{entry.address} is taken by {taken[entry.address]}; give another one"
        if problem:
            yield f"addresses.{entry.host.name}: {problem}"
        taken.setdefault(entry.address, entry.host.name)
