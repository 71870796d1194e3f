"""Commands of Onyx (MLNX-OS) as statements: each under what it configures, with ranges of ports one by one."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from toolkit.site.statements import Statements

_ETHERNET = r"interface ethernet (?P<port>[\d/]+) "
_CHANNEL = r"interface port-channel \d+"
_FORMS = tuple(
    re.compile(form)
    for form in (
        r"(ib smnode \S+ create)",
        r"(ib smnode \S+) (?:enable|disable)",
        r"(ib smnode \S+ sm-priority) \d+",
        r"(ib sm virt) (?:enable|disable|ignore)",
        r"(hostname) \S+",
        r"(ip domain-list \S+)",
        r"(ip name-server \S+)",
        r"(interface mgmt0 dhcp)",
        r"(interface mgmt0 ip address)(?: .+)?",
        r"(ip route vrf default 0\.0\.0\.0/0) \S+",
        r"(ipv6 enable)",
        r"(roce)(?: lossless| semi-lossless| lossy)?",
        r"(lacp)",
        r"(vlan \d+)",
        rf"({_ETHERNET}switchport mode) \S+",
        rf"({_ETHERNET}switchport access vlan) \d+",
        rf"({_ETHERNET}mtu) \d+",
        rf"({_ETHERNET}channel-group) \d+ mode \S+",
        rf"({_ETHERNET}shutdown)",
        rf"({_CHANNEL})",
        rf"({_CHANNEL} switchport mode) \S+",
        rf"({_CHANNEL} switchport access vlan) \d+",
        rf"({_CHANNEL} mtu) \d+",
        rf"({_CHANNEL} shutdown)",
    )
)
"""Of each command, without `no`; the first group is what it configures."""
_OF_THE_SESSION = re.compile(
    r"enable|configure terminal|exit|write memory|reload(?: .*)?|show .*|(?:no )?cli default prefix-modes enable"
)
_RANGE = re.compile(
    r"(?P<head>interface ethernet |vlan )(?P<from>(?:\d+/)*)(?P<first>\d+)-(?P<to>(?:\d+/)*)(?P<last>\d+)"
)
_MOST = 512
"""Ports or VLANs of a range; a longer one is read as it is."""
_DEFAULTS = frozenset({"vlan 1"})
"""What every switch has."""


def parse(lines: Iterable[str]) -> Statements:
    """Return the statements of a script, or of a running configuration; later ones replace earlier ones.

    Commands of the session are none, and `no shutdown` is what a port is without a statement.
    """
    by_key: dict[str, str] = {}
    others: list[str] = []
    for command in chain.from_iterable(_single_commands(" ".join(line.split())) for line in lines):
        if not command or command.startswith("#") or _OF_THE_SESSION.fullmatch(command) or command in _DEFAULTS:
            continue
        plain = _plain(command)
        form = next(filter(None, (form.fullmatch(plain.removeprefix("no ")) for form in _FORMS)), None)
        if form is None:
            others.append(command)
        elif plain.startswith("no ") and plain.endswith(" shutdown"):
            by_key.pop(form[1], None)
        else:
            by_key[form[1]] = plain
    return Statements(by_key, tuple(others))


def _plain(command: str) -> str:
    """Return a command without what changes nothing, and with `no` first."""
    command = re.sub(r"^(interface (?:ethernet|port-channel) \S+) no ", r"no \1 ", command)
    return "roce lossless" if command == "roce" else re.sub(r"(mtu \d+) force$", r"\1", command)


def _single_commands(command: str) -> Iterator[str]:
    no = "no " if command.startswith("no ") else ""
    match = _RANGE.match(command, len(no))
    if match is None or match["from"] != match["to"] or not _fits(match):
        yield command
        return
    for number in range(int(match["first"]), int(match["last"]) + 1):
        yield f"{no}{match['head']}{match['from']}{number}{command[match.end() :]}"


def _fits(match: re.Match[str]) -> bool:
    digits = len(str(_MOST)) + 1
    if max(len(match["first"]), len(match["last"])) > digits:
        return False
    return 0 <= int(match["last"]) - int(match["first"]) < _MOST
