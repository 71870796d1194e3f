"""NVUE, which configures Cumulus Linux 5: a tree, whose words for on and off depend on the version."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, product
from math import prod
from typing import Any

import yaml

from stacks.settings.site.switches import NVUE_RENAMED, Nvue
from stacks.site.site import Site
from toolkit.site.groups.switches.links import bundles, full_name, peers, single
from toolkit.site.statements import Statements

BRIDGE = "br_default"
"""The bridge that Cumulus Linux has."""
_GOVERNED = re.compile(
    rf"system\.(?:hostname|dns\.(?:domain|server\..+))|service\.dns\.mgmt\.server\..+|qos\.roce\..+|bridge\.domain\.{BRIDGE}\.vlan\.\d+"
    rf"|interface\.eth0\.(?:ip|ipv4)\.(?:address|gateway)\..+"
    rf"|interface\.(?:swp\w+|bond\d+)\.(?:description|link\.mtu|bridge\.domain\.{BRIDGE}\.access|bond\..+)"
)
"""Paths that a file may have."""
_OF_EVERY_SWITCH = re.compile(rf"interface\.[^.]+\.type|bridge\.domain\.{BRIDGE}\.vlan\.1")
"""Paths that every configuration has, of all ports."""
_SWITCHED = re.compile(r"(qos\.roce)\.(?:enable|state)")


class _WithoutAliases(yaml.SafeDumper):
    """Writes what several ports have in common at each of them."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002
        """Return that nothing is an alias."""
        return True


def text(switch: Nvue, site: Site) -> str:
    """Return the file for `nv config patch FILE`; `nv config diff` shows what it changes, before `nv config apply`."""
    head = f"# {full_name(switch, site)}, Cumulus Linux {'.'.join(map(str, switch.version))}\n"
    # A list of one, as NVUE saves it.
    return head + yaml.dump([{"set": tree(switch, site)}], Dumper=_WithoutAliases, sort_keys=False)


def statements(switch: Nvue, site: Site) -> Mapping[str, str]:
    """Return the leaves that its configuration has."""
    return parse(_leaves(tree(switch, site))).by_key


def parse(leaves: Iterable[str]) -> Statements:
    """Return leaves, each `path: value` or a path alone, as statements; ranges such as swp1-4 one by one."""
    by_key: dict[str, str] = {}
    others: list[str] = []
    for leaf in chain.from_iterable(map(_single_leaves, leaves)):
        path, colon, value = leaf.partition(": ")
        if _OF_EVERY_SWITCH.fullmatch(path):
            continue
        if _GOVERNED.fullmatch(path) is None:
            others.append(leaf)
            continue
        switched = _SWITCHED.fullmatch(path)
        # 5.15 renamed `enable: on` to `state: enabled`, and keeps to one of the two.
        by_key[f"{switched[1]}.state" if switched else path] = f"{path}{colon}{value}"
    return Statements(by_key, tuple(others))


def tree(switch: Nvue, site: Site) -> dict[str, Any]:
    """Return what is set; keys whose values only exist have an empty map, as NVUE's own files."""
    renamed = switch.version >= (5, NVUE_RENAMED)
    # A host name has no dots; domain and DNS servers have their own place since the renaming.
    system: dict[str, Any] = {"hostname": switch.name.partition(".")[0]}
    servers, domain = tuple(map(str, site.settings.name_servers)), site.settings.domain
    configuration: dict[str, Any] = {"system": system}
    if renamed and (servers or domain):
        system["dns"] = {
            **({"domain": domain} if domain else {}),
            **({"server": {server: {"vrf": "mgmt"} for server in servers}} if servers else {}),
        }
    elif servers:
        configuration["service"] = {"dns": {"mgmt": {"server": {server: {} for server in servers}}}}
    if site.fabric == "roce":
        configuration["qos"] = {"roce": {**({"state": "enabled"} if renamed else {"enable": "on"}), "mode": "lossless"}}
    if switch.vlan:
        configuration["bridge"] = {"domain": {BRIDGE: {"vlan": {str(switch.vlan): {}}}}}
    configuration["interface"] = dict(_interfaces(switch, site))
    return (
        configuration
        if configuration["interface"]
        else {key: configuration[key] for key in configuration if key != "interface"}
    )


def _interfaces(switch: Nvue, site: Site) -> Iterator[tuple[str, dict[str, Any]]]:
    if switch.management:
        ip: dict[str, Any] = {"address": {str(switch.management): {}}}
        if switch.gateway:
            ip["gateway"] = {str(switch.gateway): {}}
        yield "eth0", {"type": "eth", "ipv4" if switch.version >= (5, NVUE_RENAMED) else "ip": ip}
    links, of = bundles(switch, site), peers(switch, site)
    mtu = {"link": {"mtu": switch.mtu}}
    vlan = {"bridge": {"domain": {BRIDGE: {"access": switch.vlan}}}} if switch.vlan else {}
    for port in single(of, links):
        member = vlan if port in switch.ports else {}
        yield port, {"type": "swp", "description": of[port], **mtu, **member}
    for link in links:
        yield from ((port, {"type": "swp", "description": of[port], **mtu}) for port in link.ports)
        members: dict[str, Any] = {port: {} for port in link.ports}
        bond = {"member": members, "mode": "lacp", "lacp-rate": "fast"}
        yield f"bond{link.number}", {"type": "bond", "description": link.host, "bond": bond, **mtu, **vlan}


def _leaves(node: Any, path: str = "") -> Iterator[str]:
    if isinstance(node, dict) and node:
        for key, value in node.items():
            yield from _leaves(value, f"{path}.{key}" if path else str(key))
    else:
        yield path if node == {} else f"{path}: {node}"


_RANGES = re.compile(r"(?<=\.)(?:swp|bond)?\d+(?:-\d+)?(?:,(?:swp|bond)?\d+(?:-\d+)?)*(?=[.:]|$)")
_PART = re.compile(r"(swp|bond)?(\d{1,4})(?:-(\d{1,4}))?$")
_MOST = 4096
"""Ports or VLANs that a leaf may name; one that names more is left as it is."""


def _single_leaves(leaf: str) -> Iterator[str]:
    path = leaf.partition(": ")[0]
    ranges = [match for match in _RANGES.finditer(path) if {*match[0]} & {"-", ","}]
    names = [_names(match[0]) for match in ranges]
    if prod(map(len, names)) > _MOST or not all(names):
        yield leaf
        return
    for chosen in product(*names):
        single = leaf
        for match, name in zip(reversed(ranges), reversed(chosen), strict=True):
            single = f"{single[: match.start()]}{name}{single[match.end() :]}"
        yield single


def _names(ranges: str) -> list[str]:
    """Return the names of ranges, e.g. of swp1-2,swp5; none where one of them cannot be read."""
    parts = [_PART.match(part) for part in ranges.split(",")]
    kind = parts[0][1] or "" if parts[0] else ""
    spans = [(int(part[2]), int(part[3] or part[2])) for part in parts if part]
    if len(spans) < len(parts):
        return []
    return [f"{kind}{number}" for first, last in spans for number in range(first, last + 1)]
