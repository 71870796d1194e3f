"""GPU hosts: their operating system, which one a release takes, and addresses by IP over InfiniBand."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address

from stacks.settings.site.hosts import CoreOsHosts, RedHatHosts
from stacks.settings.site.networks import DaemonNetwork, unfit
from stacks.site.site import Host, Site

_WORDS = {"rhel7": "RHEL 7", "rhel8": "RHEL 8", "rhcos": "RHCOS"}


def system(site: Site) -> RedHatHosts | CoreOsHosts | None:
    """Return the settings of the operating system; None: not given, and the release takes more than one."""
    if site.settings.hosts is None and [*site.systems] == ["rhcos"]:
        return CoreOsHosts(dialect="rhcos")
    return site.settings.hosts


def refusal(site: Site) -> str | None:
    """Return why the release does not take the operating system that is given; None: it does."""
    hosts = site.settings.hosts
    if hosts is None:
        return None
    if hosts.dialect not in site.systems:
        words = " or ".join(_WORDS[name] for name in site.systems)
        return f"workers of OpenShift {site.release} have {words}; use {' or '.join(site.systems)}"
    minors = site.systems[hosts.dialect]
    if isinstance(hosts, RedHatHosts) and hosts.release and minors and hosts.release not in minors:
        return f"release {hosts.release} is none that OpenShift {site.release} takes; use {' or '.join(minors)}"
    return None


@dataclass(frozen=True)
class Address:
    """A host's address, and how it was found."""

    host: Host
    interface: str | None
    """Network interface of the port; None: no source names it."""
    address: IPv4Address | None
    """None: neither given, nor can it follow."""
    from_settings: bool


def daemon_addresses(site: Site) -> tuple[Address, ...]:
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


def daemon_problems(site: Site) -> Iterator[str]:
    """Yield addresses that follow and cannot be: outside of the network, or taken."""
    network = site.settings.networks.daemon
    if network is None:
        return
    taken = dict.fromkeys(network.taken, "another machine (taken)")
    taken |= {address: host for host, address in network.others.items()}
    for entry in sorted(daemon_addresses(site), key=lambda entry: not entry.from_settings):
        if entry.address is None:
            continue
        problem = None if entry.from_settings else unfit(entry.address, network.network)
        if entry.address in taken:
            problem = f"{entry.address} is taken by {taken[entry.address]}; give another one"
        if problem:
            yield f"addresses.{entry.host.name}: {problem}"
        taken.setdefault(entry.address, entry.host.name)
