"""`nv show qos roce` of Cumulus Linux: whether the switch loses no RoCE packet."""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of
from toolkit.evidence.host_parser import HostParser, HostReading, typed
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed


class NvueRoce(HostReading):
    """The state of RoCE on one switch; values are the operational ones, else those applied."""

    state: str | None = Field(description="enabled, on, off or disabled; None: not printed")
    mode: str | None = Field(description="lossless or lossy; None: not printed")
    priorities: tuple[str, ...] = Field(description="switch priorities that PFC is on for")
    receives: str | None = Field(description="whether PFC is on for what is received; None: not printed")
    sends: str | None = Field(description="whether PFC is on for what is sent; None: not printed")
    marked: tuple[str, ...] = Field(description="traffic classes in which congestion is marked (ECN)")
    trust: tuple[str, ...] = Field(description="what classes packets, e.g. pcp, dscp")

    def figures(self) -> str:
        """Return the few figures that a table has room for."""
        return f"{self.mode}, PFC on {listed(self.priorities) or 'none'}"


_COMMAND = typed(r"nv show qos roce\b")
_GROUP = re.compile(r"(congestion-control|lldp-app-tlv|pfc|trust)(?:\s|$)")
_VALUE = re.compile(
    r" *(?P<key>enable|state|mode|congestion-mode|enabled-tc|max-threshold|min-threshold|probability|priority"
    r"|protocol-id|selector|pfc-priority|rx-enabled|tx-enabled|cable-length|trust-mode)\s+(?P<value>\S+)"
)
_OTHER = re.compile(
    r"\s*operational\s+applied|[-= ]+$|RoCE (?:PCP|SP|Pool|pool)|\s*(?:pcp|switch-prio|name|traffic-class)\b|\d+\s"
    r"|\s*(?:lossy|roce|lossless)\S*-(?:ingress|egress|default)\b",
    re.IGNORECASE,
)
_ON = ("yes", "on", "enabled", "true")


class NvueRoceParser(HostParser):
    """Reads the state; the tables of maps and pools are passed over."""

    tool = "nvue-roce"
    kind = NvueRoce
    starts = _COMMAND
    command = re.compile(_COMMAND)

    def __init__(self) -> None:
        super().__init__()
        self._values: dict[str, str] = {}

    def read_line(self, line: Line) -> Taken:
        """Read a line."""
        if (value := _VALUE.match(line.text)) is not None:
            self._values.setdefault(value["key"], value["value"])
            return Taken.YES
        return Taken.YES if _GROUP.match(line.text) or _OTHER.match(line.text) else Taken.NO

    def facts(self) -> Mapping[str, object]:
        """Return the state."""
        values = self._values
        return {
            "state": values.get("state", values.get("enable")),
            "mode": values.get("mode"),
            "priorities": _several(values.get("pfc-priority")),
            "receives": values.get("rx-enabled"),
            "sends": values.get("tx-enabled"),
            "marked": _several(values.get("enabled-tc")),
            "trust": _several(values.get("trust-mode")),
        }

    def missing(self) -> Iterable[str | None]:
        """Return what is not there."""
        return (None if "mode" in self._values else "no mode",)


def _several(text: str | None) -> tuple[str, ...]:
    return tuple(part for part in (text or "").split(",") if part)


def _lossless(job: Job) -> Outcome | None:
    outputs = [output for output in readings_of(job, NvueRoce) if output.mode is not None]
    if not outputs:
        return Outcome(Status.MISSING, "no mode")
    measured = listed(
        f"{output.mode}, PFC on {listed(output.priorities) or 'none'}, ECN on {listed(output.marked) or 'none'}, trust "
        f"{listed(output.trust) or 'none'}"
        for output in outputs
    )
    return Outcome(passed(all(map(_is_lossless, outputs))), measured, proofs=opening_proofs(outputs))


def _is_lossless(output: NvueRoce) -> bool:
    both_ways = output.receives in _ON and output.sends in _ON
    return (
        output.mode == "lossless"
        and output.priorities == ("3",)
        and both_ways
        and "3" in output.marked
        and "dscp" in output.trust
    )


CRITERIA = (
    Criterion(
        name="cumulus-lossless",
        title="The Cumulus switch is lossless for RoCE",
        limit="mode lossless, PFC on 3 alone in both directions, ECN on traffic class 3, trust dscp",
        applies="Cumulus Linux switches with nv show qos roce output",
        source="N-1.1, N-1.4",
        judge=_lossless,
    ),
)
