"""IP over InfiniBand for Storage Scale's daemons: the plan of addresses, and policies for RHCOS."""

import csv
from collections.abc import Iterator
from io import StringIO
from typing import Any

import yaml

from core.apis.kinds import NODE_NETWORK_CONFIGURATION_POLICY as KIND
from stacks.settings.site.hosts import CoreOsHosts, RedHatHosts
from stacks.settings.site.networks import DaemonNetwork
from stacks.site.daemon_addresses import Address, plan
from stacks.site.site import Site
from toolkit.site.output import File, Open

PATH = "hosts/ipoib.csv"
DEFAULT_PARTITION = "0xffff"


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
    yield File(PATH, _table(complete, network), sources=("R-3.3-6",))
    if isinstance(system, CoreOsHosts):
        for each in complete:
            text = yaml.safe_dump(_policy(each, network), sort_keys=False)
            yield File(f"hosts/ipoib/{each.host.short}.yaml", text, sources=("R-3.3-6",))


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
