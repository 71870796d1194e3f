"""GPU hosts: their operating system, which one a release takes, and addresses by IP over InfiniBand."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address

from stacks.settings.site.hosts import CoreOsHosts, RedHatHosts
from stacks.settings.site.networks import DaemonNetwork, unfit
from stacks.site.site import Host, Site

LAST_WITH_PACKAGES = (4, 18)
"""Release after which workers are RHCOS alone (openshift-docs #92899)."""
LAST_WITH_RHEL_7 = (4, 9)
"""Its release notes have both generations; 4.10's have RHEL 8 alone."""
FIRST_WITH_RHEL_8 = (4, 9)


def system(site: Site) -> RedHatHosts | CoreOsHosts | None:
    """Return the settings of the operating system; None: not given, and the release takes more than one."""
    if site.settings.hosts is None and site.version > LAST_WITH_PACKAGES:
        return CoreOsHosts(dialect="rhcos")
    return site.settings.hosts


def refusal(site: Site) -> str | None:
    """Return why the release does not take the operating system that is given; None: it does."""
    dialect, version = site.settings.hosts and site.settings.hosts.dialect, site.version
    if dialect in {"rhel7", "rhel8"} and version > LAST_WITH_PACKAGES:
        return "workers of OpenShift 4.19 and later are RHCOS; use rhcos"
    if dialect == "rhel7" and version > LAST_WITH_RHEL_7:
        return "the last release with RHEL 7 is 4.9; use rhel8 or rhcos"
    if dialect == "rhel8" and version < FIRST_WITH_RHEL_8:
        return "the first release with RHEL 8 is 4.9; use rhel7"
    if dialect == "rhcos" and version[0] < 4:  # noqa: PLR2004 - of the first release with RHCOS
        return "OpenShift 3.11 has no RHCOS; use rhel7"
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
    for entry in sorted(daemon_addresses(site), key=lambda entry: not entry.from_settings):
        if entry.address is None:
            continue
        problem = None if entry.from_settings else unfit(entry.address, network.network)
        if entry.address in taken:
            problem = f"{entry.address} is taken by {taken[entry.address]}; give another one"
        if problem:
            yield f"addresses.{entry.host.name}: {problem}"
        taken.setdefault(entry.address, entry.host.name)
