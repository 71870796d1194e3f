"""IP over InfiniBand for Storage Scale's daemons: the plan of addresses, and policies for RHCOS."""

import csv
from collections.abc import Iterator
from io import StringIO
from typing import Any

import yaml

from core.apis.kinds import NODE_NETWORK_CONFIGURATION_POLICY as KIND
from stacks.settings.site.hosts import CoreOsHosts, RedHatHosts
from stacks.settings.site.networks import DaemonNetwork
from stacks.site.hosts import Address, daemon_addresses
from stacks.site.site import Site
from toolkit.site.output import File, Open

PATH = "hosts/ipoib.csv"
DEFAULT_PARTITION = "0xffff"


def files(site: Site, system: RedHatHosts | CoreOsHosts | None) -> Iterator[File | Open]:
    """Yield the plan, on RHCOS with a policy for each host, and what is open."""
    network = site.settings.networks.daemon
    if network is None:
        return
    addresses = daemon_addresses(site)
    for address in addresses:
        if address.interface is None:
            yield Open(f"network interface of {network.port} on {address.host.name}", "name the ports in `ports`")
        if address.address is None:
            yield Open(
                f"address of {address.host.name} in {network.network}",
                f"set site.networks.daemon.addresses.{address.host.name}, or its address in networks.admin",
            )
    complete = [address for address in addresses if address.interface and address.address]
    yield File(PATH, _table(complete, network), sources=("R-3.3-6",))
    if isinstance(system, CoreOsHosts):
        for address in complete:
            text = yaml.safe_dump(_policy(address, network), sort_keys=False)
            yield File(f"hosts/ipoib/{address.host.short}.yaml", text, sources=("R-3.3-6",))


def _table(addresses: list[Address], network: DaemonNetwork) -> str:
    buffer = StringIO()
    table = csv.writer(buffer, lineterminator="\n")
    table.writerow(("host", "port", "interface", "address", "prefix", "from"))
    for address in addresses:
        source = "settings" if address.from_settings else "admin address"
        row = (address.host.name, network.port, address.interface, address.address, network.network.prefixlen, source)
        table.writerow(row)
    for host, other in network.others.items():
        # How its interface is called is the storage's own.
        table.writerow((host, network.port, "", other, network.network.prefixlen, "settings"))
    return buffer.getvalue()


def _policy(address: Address, network: DaemonNetwork) -> dict[str, Any]:
    interface = {
        "name": address.interface,
        "type": "infiniband",
        "state": "up",
        "infiniband": {"mode": "datagram", "pkey": DEFAULT_PARTITION},
        "ipv4": {
            "enabled": True,
            "dhcp": False,
            "address": [{"ip": str(address.address), "prefix-length": network.network.prefixlen}],
        },
        "ipv6": {"enabled": False},
    }
    return {
        "apiVersion": KIND.api_version,
        "kind": KIND.kind,
        "metadata": {"name": f"ipoib-{address.host.short}"},
        "spec": {
            "nodeSelector": {"kubernetes.io/hostname": address.host.name},
            "desiredState": {"interfaces": [interface]},
        },
    }
