"""Onyx on a switch: how it is reached, and on InfiniBand its subnet manager.

On Ethernet RoCE without loss, the VLAN and the MTU of its ports, and links by LACP.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from stacks.settings.site.switches import OnyxEthernet, OnyxInfiniBand, Switch
from stacks.site.site import Site
from toolkit.site.groups.switches.links import bundles, full_name, management, peers, single
from toolkit.site.groups.switches.onyx_statements import parse


def _script(switch: Switch, site: Site, lines: Iterable[str]) -> str:
    cables = [f"## {port}: {peer}" for port, peer in peers(switch, site).items()]
    head = ("##", f"## Hostname: {full_name(switch, site)}", *cables, "##")
    return "".join(f"{line}\n" for line in (*head, "enable", "configure terminal", *lines))


def infiniband(switch: OnyxInfiniBand, site: Site) -> str:
    """Return the script; the subnet manager needs the reload at its end."""
    last = ("write memory", "reload") if switch.sm_priority is not None else ("write memory",)
    return _script(switch, site, (*_infiniband_lines(switch, site), *last))


def infiniband_statements(switch: OnyxInfiniBand, site: Site) -> Mapping[str, str]:
    """Return the statements of its running configuration."""
    return parse(_infiniband_lines(switch, site)).by_key


def _infiniband_lines(switch: OnyxInfiniBand, site: Site) -> Iterator[str]:
    yield from management(switch, site)
    yield "no ipv6 enable"
    if switch.sm_priority is None:
        return
    name = full_name(switch, site)
    # The printed list lacks `create`, and the printed configuration has it.
    yield f"ib smnode {name} create"
    yield f"ib smnode {name} enable"
    yield f"ib smnode {name} sm-priority {switch.sm_priority}"
    yield "ib sm virt enable"


def ethernet(switch: OnyxEthernet, site: Site) -> str:
    """Return the script."""
    return _script(switch, site, (*_ethernet_lines(switch, site), "write memory"))


def ethernet_statements(switch: OnyxEthernet, site: Site) -> Mapping[str, str]:
    """Return the statements of its running configuration."""
    return parse(_ethernet_lines(switch, site)).by_key


def _ethernet_lines(switch: OnyxEthernet, site: Site) -> Iterator[str]:
    links = bundles(switch, site)
    single_ports = single(peers(switch, site), links)
    yield from management(switch, site)
    if site.fabric == "roce":
        yield "roce"  # lossless; it may turn ports off and on
    if switch.vlan:
        # `interface vlan`, as printed, is another thing.
        yield from (f"vlan {switch.vlan}", "exit")
    if links:
        yield "lacp"
    for link in links:
        channel = f"interface port-channel {link.number}"
        yield from (channel, "exit")
        for ports in _ranges(link.ports):
            yield f"interface ethernet {ports} channel-group {link.number} mode active"
        if switch.vlan:
            yield f"{channel} switchport access vlan {switch.vlan}"
        yield from _with_mtu(channel, switch.mtu)
    if switch.vlan:
        for ports in _ranges([port for port in single_ports if port in switch.ports]):
            yield f"interface ethernet {ports} switchport access vlan {switch.vlan}"
    for ports in _ranges(single_ports):
        yield from _with_mtu(f"interface ethernet {ports}", switch.mtu)


def _with_mtu(interface: str, mtu: int) -> Iterator[str]:
    """Yield the commands for an MTU, which a port takes while it is down."""
    yield from (f"{interface} shutdown", f"{interface} mtu {mtu}", f"{interface} no shutdown")


def _ranges(ports: Sequence[str]) -> list[str]:
    """Return ports as Onyx takes them, those with numbers in a row as one: 1/1-1/4."""
    if not ports:
        return []
    starts = [0, *(at for at, (port, after) in enumerate(pairwise(ports), 1) if _next(port) != after), len(ports)]
    runs = [ports[start:end] for start, end in pairwise(starts)]
    return [run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]


def _next(port: str) -> str:
    head, slash, number = port.rpartition("/")
    return f"{head}{slash}{int(number) + 1}"
