"""Comware 7 of HPE's switches: a link by LACP for all ports of each machine."""

import re
from collections.abc import Iterable, Iterator, Mapping

from stacks.settings.site.switches import Comware
from stacks.site.site import Site
from toolkit.site.groups.switches.links import bundles, full_name, peers, single
from toolkit.site.output import Open
from toolkit.site.statements import Statements

MANAGEMENT = "M-GigabitEthernet0/0/0"
_PORT = r"(?:interface (?:\w+GigE[\d/:]+|Bridge-Aggregation\d+))"
_FORMS = tuple(
    re.compile(form)
    for form in (
        r"(sysname) \S+",
        r"(dns domain \S+)",
        r"(dns server \S+)",
        r"(ip route-static 0\.0\.0\.0 0) \S+",
        r"(vlan \d+)",
        rf"(interface {MANAGEMENT} / ip address) .+",
        rf"({_PORT} / description) .+",
        rf"({_PORT} / port access vlan) \d+",
        rf"({_PORT} / link-aggregation mode) \w+",
        rf"({_PORT} / port link-aggregation group) \d+",
    )
)
"""Of a line, or of a section and a line in it; the first group is what it configures."""
_OF_THE_SESSION = re.compile(r"system-view|return|quit|save(?: force)?|display .*")
_VIEWS = re.compile(r"interface (?:\w+GigE|M-GigabitEthernet|Bridge-Aggregation)\S*|vlan \d+$")
IN_VIEW = " / "
"""Between a section and a line in it."""


def text(switch: Comware, site: Site) -> str:
    """Return the script."""
    head = ("#", f"# {full_name(switch, site)}", "#", "system-view")
    body = [line for section in _sections(switch, site) for line in (*section, "#")]
    return "".join(f"{line}\n" for line in (*head, *body, "save force"))


def statements(switch: Comware, site: Site) -> Mapping[str, str]:
    """Return the statements of its running configuration."""
    return parse(in_views(line for section in _sections(switch, site) for line in section)).by_key


def missing(switch: Comware) -> Iterator[Open]:
    """Yield what no source documents of this dialect."""
    yield Open(
        f"the MTU of {switch.mtu} bytes: no source prints Comware's command for it",
        "check what `display interface` prints as the maximum frame length",
    )


def in_views(lines: Iterable[str]) -> Iterator[str]:
    """Yield each line of a configuration with the section that it is in: those in a section are indented."""
    view = ""
    for line in lines:
        command = " ".join(line.split())
        if not line.startswith(" ") or not view:
            view = command if _VIEWS.match(command) else ""
            yield command
        else:
            yield f"{view}{IN_VIEW}{command}"


def parse(lines: Iterable[str]) -> Statements:
    """Return the statements of lines, each with its section as `in_views` writes it; a section alone is none."""
    by_key: dict[str, str] = {}
    others: list[str] = []
    for line in lines:
        command = " ".join(line.split())
        if not command or command.startswith("#") or _OF_THE_SESSION.fullmatch(command) or command == "vlan 1":
            continue
        pattern = next(filter(None, (pattern.fullmatch(command) for pattern in _FORMS)), None)
        if pattern is not None:
            by_key[pattern[1]] = command
        elif not command.startswith("interface ") or IN_VIEW in command:
            others.append(command)
    return Statements(by_key, tuple(others))


def _sections(switch: Comware, site: Site) -> Iterator[tuple[str, ...]]:
    yield (f" sysname {full_name(switch, site).split('.')[0]}",)
    # What belongs to no section comes first: a section has no end.
    if site.settings.domain:
        yield (f" dns domain {site.settings.domain}",)
    yield from ((f" dns server {server}",) for server in site.settings.name_servers)
    if switch.gateway:
        yield (f" ip route-static 0.0.0.0 0 {switch.gateway}",)
    if switch.vlan:
        yield (f"vlan {switch.vlan}",)
    if switch.management:
        address = f" ip address {switch.management.ip} {switch.management.netmask}"
        yield f"interface {MANAGEMENT}", address
    links, of = bundles(switch, site), peers(switch, site)
    vlan = (f" port access vlan {switch.vlan}",) if switch.vlan else ()
    for link in links:
        yield (
            f"interface Bridge-Aggregation{link.number}",
            f" description {link.host}",
            *vlan,
            " link-aggregation mode dynamic",
        )
    # A port of a group has the VLAN of its group, or it is not selected.
    for link in links:
        for port in link.ports:
            yield (
                f"interface {port}",
                f" description {of[port]}",
                *vlan,
                f" port link-aggregation group {link.number}",
            )
    for port in single(of, links):
        yield f"interface {port}", f" description {of[port]}", *(vlan if port in switch.ports else ())
