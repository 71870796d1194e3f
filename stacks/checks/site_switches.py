"""What is wrong between the switches of a site and the machines: cables, rails and links by LACP."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

from core.wording import some
from stacks.checks import repeated
from stacks.settings.fabric import Ethernet, RdmaFabric, Roce
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from stacks.settings.site.switches import EthernetSwitch, OnyxInfiniBand, Switch
from stacks.site import assembly as site
from stacks.site.site import between

_SHOWN = 4
"""Cables that a message names, at most."""


def problems(settings: Settings) -> Iterator[str]:
    """Yield what is wrong with the switches; a cable to nowhere hides what would only follow from it."""
    switches = settings.site.switches if settings.site else ()
    yield from repeated("site.switches: name", (switch.name for switch in switches))
    addresses = [str(switch.management.ip) for switch in switches if switch.management]
    yield from repeated("site.switches: management", addresses)
    yield from _taken_addresses(settings, switches)
    yield from _uplinks(switches)
    if cables := [*_cables(settings, switches)]:
        yield from cables
        return
    yield from _uncabled(settings, switches)
    yield from _rails(settings, switches)
    yield from _bonds(settings, switches)
    yield from _mtu(settings, switches)


def _cables(settings: Settings, switches: Sequence[Switch]) -> Iterator[str]:
    """Yield cables to unknown hosts and ports, cables of one port to two switches, and switches of another fabric."""
    pools = {short(node): pool for pool in settings.gpu_pools for node in pool.free}
    hosts = {short(node.name): node.name for node in settings.gpu_nodes}
    cabled: dict[str, str] = {}
    for switch in switches:
        at = f"site.switches: {switch.name}"
        for port, cable in switch.ports.items():
            host, _, hca = cable.partition("/")
            if hosts.get(short(host)) is None or host not in (short(host), hosts[short(host)]):
                near = get_close_matches(host, hosts, 1)
                yield (
                    f"{at}: ports.{port} {cable}: no GPU node is called {host}; correct it"
                    f"{f' to {near[0]}' if near else ''}, or put what it is under others"
                )
                continue
            pool = pools[short(host)]
            ports = [port.name for port in (*pool.machine.hcas, *pool.machine.storage_hcas)]
            if hca not in ports:
                named = f"of {', '.join(ports)}" if ports else "none: name its ports in `ports`"
                yield f"{at}: ports.{port} {cable}: {pool.machine.name} has no port {hca}; use one {named}"
            elif (
                before := cabled.setdefault(f"{short(host)}/{hca}", f"{switch.name} {port}")
            ) != f"{switch.name} {port}":
                yield f"{at}: ports.{port} {cable} is cabled twice, also to {before}; leave one out"
            elif hca in _compute(pool) and isinstance(switch, OnyxInfiniBand) is not (pool.fabric.kind == "infiniband"):
                yield (
                    f"{at}: dialect {switch.dialect} is of {_layer(switch)}, and fabric is {pool.fabric.kind}; use "
                    "another dialect, or leave its ports out"
                )
                break


def _compute(pool: Pool) -> set[str]:
    return {hca.name for hca in pool.machine.hcas}


def _taken_addresses(settings: Settings, switches: Sequence[Switch]) -> Iterator[str]:
    """Yield management addresses and gateways that a host has in the admin network."""
    admin = settings.site.networks.admin if settings.site else None
    hosts = {address: host for host, address in admin.addresses.items()} if admin else {}
    for switch in switches:
        own = (("management", switch.management and switch.management.ip), ("gateway", switch.gateway))
        for field, address in own:
            if address in hosts:
                yield (
                    f"site.switches: {switch.name}: {field} {address} is taken by {hosts[address]} in "
                    "site.networks.admin; give another one"
                )


def _uplinks(switches: Sequence[Switch]) -> Iterator[str]:
    """Yield cables between switches that end at no switch, at one of another fabric, or at a port that is used."""
    named = {switch.name: switch for switch in switches}
    used = {switch.name: [*switch.ports, *switch.others, *switch.uplinks] for switch in switches}
    for cable in between(switches):
        at = f"site.switches: {cable.lower}: uplinks.{cable.lower_port} {cable.upper}/{cable.upper_port}"
        upper = named.get(cable.upper)
        if upper is None:
            near = get_close_matches(cable.upper, named, 1)
            meant = f" to {near[0]}" if near else ""
            yield f"{at}: no switch is called {cable.upper}; correct it{meant}, or add the switch"
        elif upper is named[cable.lower]:
            yield f"{at}: a cable to the switch itself; name another one"
        elif _layer(upper) != _layer(named[cable.lower]):
            yield f"{at}: {cable.upper} is of {_layer(upper)}; cable switches of one fabric"
        elif problem := next(upper.unusable([*used[cable.upper], cable.upper_port]), None):
            yield f"{at}: at {cable.upper} {problem}"
        else:
            used[cable.upper].append(cable.upper_port)


def _layer(switch: Switch) -> str:
    return "InfiniBand" if isinstance(switch, OnyxInfiniBand) else "Ethernet"


def _uncabled(settings: Settings, switches: Sequence[Switch]) -> Iterator[str]:
    """Yield compute ports that no switch has, where switches have any of them."""
    ports = [
        (short(node.name), hca.name) for pool in settings.gpu_pools for node in pool.nodes for hca in pool.machine.hcas
    ]
    cabled = {(short(host), hca) for _, host, hca in cables(switches)} & {*ports}
    missing = [f"{host}/{hca}" for host, hca in ports if (host, hca) not in cabled]
    if cabled and missing:
        yield (
            f"site.switches: {some(missing, _SHOWN)} {'is' if len(missing) == 1 else 'are'} on no switch, "
            "and other ports of the machines are; add the missing cables to ports"
        )


def _rails(settings: Settings, switches: Sequence[Switch]) -> Iterator[str]:
    """Yield rails that one machine has on another switch than the machines that share its other switches."""
    for pool in settings.gpu_pools:
        if isinstance(pool.fabric, RdmaFabric):
            yield from _rails_of(pool, switches)


def _rails_of(pool: Pool, switches: Sequence[Switch]) -> Iterator[str]:
    hosts = {short(node) for node in pool.free}
    switches_by_host = placed(switches, [hca.name for hca in pool.machine.hcas])
    places = {host: own for host, own in switches_by_host.items() if host in hosts}
    for host, own in places.items():
        usual = _reference_host(own, places)
        if usual is None:
            continue
        other, usual_switches = usual
        for hca, switch, usual_switch in zip(pool.machine.hcas, own, usual_switches, strict=True):
            if switch != usual_switch:
                yield (
                    f"site.switches: {switch}: {host}/{hca.name} is there, and the same rail of {other} is on "
                    f"{usual_switch}; a rail has one switch: cable it to {usual_switch}"
                )


def _reference_host(own: Sequence[str], places: Mapping[str, Sequence[str]]) -> tuple[str, Sequence[str]] | None:
    """Return the machine after whose switches these were to be cabled: one that has most of them in common.

    Of two ways of cabling the more frequent one counts, and of equal ones the first. None: it is these.
    """
    kin = {
        host: other
        for host, other in places.items()
        if 2 * sum(mine == theirs for mine, theirs in zip(own, other, strict=True)) > len(own)
    }
    counted = Counter(map(tuple, kin.values())).most_common(1)
    if not counted or counted[0][0] == own:
        return None
    return next((host, other) for host, other in kin.items() if tuple(other) == counted[0][0])


def _bonds(settings: Settings, switches: Sequence[Switch]) -> Iterator[str]:
    """Yield machines whose link by LACP ends at two switches."""
    bonded = {short(node): site.bonded(pool) for pool in settings.gpu_pools for node in pool.free}
    ends: dict[str, dict[str, None]] = {}
    for switch, host, hca in cables(switches):
        if hca in bonded[short(host)]:
            ends.setdefault(short(host), {})[switch.name] = None
    for host, names in ends.items():
        if len(names) > 1:
            yield (
                f"site.switches: fabric.bond of {host} ends at {' and '.join(names)}; a link by LACP over several "
                "switches is not written: cable all its ports to one"
            )


def _mtu(settings: Settings, switches: Sequence[Switch]) -> Iterator[str]:
    """Yield switches whose ports drop the largest packets of the machines' ports."""
    for pool in settings.gpu_pools:
        if isinstance(pool.fabric, Ethernet | Roce):
            yield from _mtu_of(pool, pool.fabric, switches)


def _mtu_of(pool: Pool, fabric: Ethernet | Roce, switches: Sequence[Switch]) -> Iterator[str]:
    field, ports = ("bond", fabric.bond) if isinstance(fabric, Ethernet) else ("ports", fabric.ports)
    hosts, compute = {short(node) for node in pool.free}, _compute(pool)
    used = {switch.name for switch, host, hca in cables(switches) if hca in compute and short(host) in hosts}
    for switch in switches:
        if ports and isinstance(switch, EthernetSwitch) and switch.name in used and switch.mtu < ports.mtu:
            yield (
                f"site.switches: {switch.name}: mtu {switch.mtu} is less than fabric.{field}.mtu {ports.mtu}, and the "
                f"switch drops larger packets; raise it to {ports.mtu}, or lower fabric.{field}.mtu"
            )


def placed(switches: Sequence[Switch], hcas: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the switch of each HCA by host; only hosts that have all of these cabled."""
    by_host: dict[str, dict[str, str]] = {}
    for switch, host, hca in cables(switches):
        by_host.setdefault(short(host), {})[hca] = switch.name
    return {host: tuple(own[hca] for hca in hcas) for host, own in by_host.items() if own.keys() >= {*hcas}}


def cables(switches: Sequence[Switch]) -> Iterator[tuple[Switch, str, str]]:
    """Yield each cable to a GPU node: the switch, the host as the settings write it, and its HCA."""
    for switch in switches:
        for cable in switch.ports.values():
            host, _, hca = cable.partition("/")
            yield switch, host, hca


def short(host: str) -> str:
    """Return a name without its domain."""
    return host.partition(".")[0]
