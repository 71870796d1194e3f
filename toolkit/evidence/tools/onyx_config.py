"""`show running-config` of Onyx (MLNX-OS): commands of an InfiniBand or Ethernet switch."""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from toolkit.evidence.configuration import MOST, ConfigurationParser, ConfigurationReading
from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of, row_proofs
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed


class OnyxCommand(Record):
    """A command of the configuration."""

    text: str = Field(description="as printed")


class OnyxConfig(ConfigurationReading):
    """The configuration of one switch."""

    release: str | None = Field(description="product release, e.g. 3.9.0300; None: not printed")
    rows: tuple[OnyxCommand, ...]

    @property
    def jumbo_by_default(self) -> bool | None:
        """Whether ports have an MTU of 9216 without a command; None: the release is not known."""
        parts = re.findall(r"\d{1,6}", self.release or "")[: len(_WITH_JUMBO)]
        return tuple(map(int, parts)) >= _WITH_JUMBO if len(parts) == len(_WITH_JUMBO) else None

    def _figures(self) -> str:
        return f"{self.host or 'a switch'}: {len(self.rows)} commands"


PROMPT = r"(?:[\w.-]+ )?(?:\[[^\]]+\] )?(?:\(config[^)]*\) )?[#>] ?"
_COMMAND = rf"(?:{PROMPT})?show running-config\b"
_BANNER = re.compile(r"## (Hostname|Product release): +(\S+)$")
_LINE = re.compile(
    r" *(?:no )?(?:aaa|access-list|arp|banner|class-map|cli|clock|configure|crypto|dcb|docker|email|enable|exit|fae"
    r"|feature|file|hostname|ib|interface|ip|ipv6|job|json-gw|lacp|ldap|license|lldp|logging|mlag|ntp|policy-map|port-channel"
    r"|protocol|qos|radius-server|reload|roce|router|snmp-server|spanning-tree|ssh|stats|storm-control|switchport|system"
    r"|tacacs-server|telnet-server|traffic|username|virtual-machine|vlan|vrf|web|write|xml-gw)(?: .*)?$"
)


class OnyxConfigParser(ConfigurationParser):
    """Reads the configuration as the switch prints it, and as `./hpc site render` writes it."""

    tool = "onyx-config"
    kind = OnyxConfig
    starts = (
        rf"{_COMMAND}|## (?:Running database|Generated at|Hostname:|Product release:)|(?:no )?ib (?:smnode \S+|sm) \w"
        r"|username \S+ (?:password|nopassword|capability)"
    )
    leads = "##"
    command = re.compile(_COMMAND)
    prompt = re.compile(rf"(?:[\w.-]+ |\[[^\]]+\] ?){PROMPT}\w|[\w.-]+ [#>] ?\w")

    def __init__(self) -> None:
        super().__init__()
        self._head: dict[str, str] = {}
        self._rows: list[OnyxCommand] = []
        self._more = False

    def _statement(self, line: Line) -> Taken:
        text = line.text
        if text.startswith("#"):
            if (banner := _BANNER.match(text)) is not None:
                if banner[1] in self._head:
                    return Taken.AGAIN
                self._head[banner[1]] = banner[2]
            return Taken.YES
        if _LINE.match(text) is None:
            return Taken.NO
        self._more = len(self._rows) >= MOST
        if not self._more:
            self._rows.append(OnyxCommand(text=text.strip(), line=line.number))
        return Taken.YES

    def _facts(self) -> Mapping[str, object]:
        named = (row.text.removeprefix("hostname ") for row in self._rows if row.text.startswith("hostname "))
        host = self._head.get("Hostname") or next(named, None)
        return {
            "host": host,
            "release": self._head.get("Product release"),
            "rows": tuple(self._rows),
            "hidden": self.hidden,
        }

    def _missing(self) -> Iterable[str | None]:
        return (None if self._rows else "no command", f"more than {MOST} commands" if self._more else None)


MTU = 9216
_MTU = re.compile(r"interface (?:ethernet|port-channel) (\S+) mtu (\d{1,6})\b")
_MANAGER = re.compile(r"ib smnode (\S+) (create|enable)$")
_WITH_JUMBO = (3, 9, 2110)
"""The first release whose ports have an MTU of 9216 without a command."""


def _created(job: Job) -> Outcome | None:
    """Return whether every subnet manager that is on was made before: `enable` alone does nothing."""
    rows = [
        (configuration, row, _MANAGER.match(row.text))
        for configuration in readings_of(job, OnyxConfig)
        for row in configuration.rows
    ]
    made = {(configuration.file, match[1]) for configuration, _, match in rows if match and match[2] == "create"}
    on = [(configuration, row, match[1]) for configuration, row, match in rows if match and match[2] == "enable"]
    if not on:
        return None
    wrong = [(configuration, row, name) for configuration, row, name in on if (configuration.file, name) not in made]
    measured = listed(f"{name}: not created" for *_, name in wrong) if wrong else listed(name for *_, name in on)
    proofs = row_proofs((configuration.file, row) for configuration, row, _ in wrong or on)
    return Outcome(passed(not wrong), measured, proofs=proofs)


def _jumbo(job: Job) -> Outcome | None:
    configurations = [
        configuration
        for configuration in readings_of(job, OnyxConfig)
        if any(row.text.split()[0] == "roce" for row in configuration.rows)
    ]
    if not configurations:
        return None
    sizes = [
        (configuration, row, size)
        for configuration in configurations
        for row in configuration.rows
        if (size := _MTU.match(row.text)) is not None
    ]
    wrong = [(configuration, row, f"{size[1]}: {size[2]}") for configuration, row, size in sizes if int(size[2]) < MTU]
    plain = [
        configuration
        for configuration in configurations
        if not any(configuration is configured for configured, *_ in sizes) and configuration.jumbo_by_default is False
    ]
    if not wrong and not plain:
        measured = f"{MTU} or the default" if sizes else "the default"
        return Outcome(Status.PASS, measured, proofs=opening_proofs(configurations))
    by_default = (f"{configuration.host}: the default of {configuration.release}" for configuration in plain)
    proofs = row_proofs((configuration.file, row) for configuration, row, _ in wrong) or opening_proofs(plain)
    return Outcome(Status.FAIL, listed([*(text for *_, text in wrong), *by_default]), proofs=proofs)


CRITERIA = (
    Criterion(
        name="subnet-manager-created",
        title="Every enabled subnet manager was created",
        limit="`ib smnode ... create` beside `enable`",
        applies="configurations of InfiniBand switches",
        source="R-3.1-1, R-3.1-2",
        judge=_created,
    ),
    Criterion(
        name="switch-mtu",
        title="Ports of a RoCE switch pass jumbo frames",
        limit=f"{MTU}",
        unit="bytes",
        applies="configurations of Ethernet switches with `roce`",
        source="N-1.3",
        judge=_jumbo,
    ),
)
