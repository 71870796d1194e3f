"""IP over InfiniBand for Storage Scale's daemons: the plan of addresses, and policies for RHCOS (R-3.3-6)."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from ipaddress import IPv4Address
from typing import Any

import yaml

from apis.kinds import NODE_NETWORK_CONFIGURATION_POLICY as KIND
from sites.output import File, Open
from sites.settings.hosts import CoreOsHosts, RedHatHosts
from sites.settings.networks import DaemonNetwork, unfit
from sites.site import Host, Site

PATH = "hosts/ipoib.csv"
DEFAULT_PARTITION = "0xffff"


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


def files(site: Site, system: RedHatHosts | CoreOsHosts | None) -> Iterator[File | Open]:
    """Yield the plan, on RHCOS with a policy for each host, and what is open."""
    network = site.given.networks.daemon
    if network is None:
        return
    found = plan(site)
    for each in found:
        if each.interface is None:
            yield Open(f"network interface of {network.port} on {each.host.name}", "name the ports in `ports`")
        if each.address is None:
            yield Open(
                f"address of {each.host.name} in {network.network}",
                f"set site.networks.daemon.addresses.{each.host.name}, or its address in networks.admin",
            )
    complete = [each for each in found if each.interface and each.address]
    yield File(PATH, _table(complete, network), ("R-3.3-6",))
    if isinstance(system, CoreOsHosts):
        for each in complete:
            text = yaml.safe_dump(_policy(each, network), sort_keys=False)
            yield File(f"hosts/ipoib/{each.host.short}.yaml", text, ("R-3.3-6",))


def _table(found: list[Address], network: DaemonNetwork) -> str:
    out = StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(("host", "port", "interface", "address", "prefix", "from"))
    for each in found:
        source = "settings" if each.given else "admin address"
        row = (each.host.name, network.port, each.interface, each.address, network.network.prefixlen, source)
        table.writerow(row)
    return out.getvalue()


def _policy(each: Address, network: DaemonNetwork) -> dict[str, Any]:
    interface = {
        "name": each.interface,
        "type": "infiniband",
        "state": "up",
        "infiniband": {"mode": "datagram", "pkey": DEFAULT_PARTITION},
        "ipv4": {
            "enabled": True,
            "dhcp": False,
            "address": [{"ip": str(each.address), "prefix-length": network.network.prefixlen}],
        },
        "ipv6": {"enabled": False},
    }
    return {
        "apiVersion": KIND.api_version,
        "kind": KIND.kind,
        "metadata": {"name": f"ipoib-{each.host.short}"},
        "spec": {
            "nodeSelector": {"kubernetes.io/hostname": each.host.name},
            "desiredState": {"interfaces": [interface]},
        },
    }
