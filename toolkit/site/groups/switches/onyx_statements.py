"""Commands of Onyx (MLNX-OS) as statements: each under what it configures, with ranges of ports one by one."""

import re
from collections.abc import Iterable, Iterator

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


def keyed(lines: Iterable[str]) -> Statements:
    """Return the statements of a script, or of a running configuration; later ones replace earlier ones.

    Commands of the session are none, and `no shutdown` is what a port is without a statement.
    """
    known: dict[str, str] = {}
    others: list[str] = []
    for command in (one for line in lines for one in _one_by_one(" ".join(line.split()))):
        if not command or command.startswith("#") or _OF_THE_SESSION.fullmatch(command) or command in _DEFAULTS:
            continue
        plain = _plain(command)
        form = next(filter(None, (form.fullmatch(plain.removeprefix("no ")) for form in _FORMS)), None)
        if form is None:
            others.append(command)
        elif plain.startswith("no ") and plain.endswith(" shutdown"):
            known.pop(form[1], None)
        else:
            known[form[1]] = plain
    return Statements(known, tuple(others))


def _plain(command: str) -> str:
    """Return a command without what changes nothing, and with `no` first."""
    command = re.sub(r"^(interface (?:ethernet|port-channel) \S+) no ", r"no \1 ", command)
    return "roce lossless" if command == "roce" else re.sub(r"(mtu \d+) force$", r"\1", command)


def _one_by_one(command: str) -> Iterator[str]:
    """Yield the commands of each port of a range."""
    no = "no " if command.startswith("no ") else ""
    found = _RANGE.match(command, len(no))
    if found is None or found["from"] != found["to"] or not _fits(found):
        yield command
        return
    for number in range(int(found["first"]), int(found["last"]) + 1):
        yield f"{no}{found['head']}{found['from']}{number}{command[found.end() :]}"


def _fits(found: re.Match[str]) -> bool:
    digits = len(str(_MOST)) + 1
    if max(len(found["first"]), len(found["last"])) > digits:
        return False
    return 0 <= int(found["last"]) - int(found["first"]) < _MOST
