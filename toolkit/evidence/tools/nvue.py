"""NVUE of Cumulus Linux: `nv config show`, as YAML or JSON, and `nv show qos roce`, whether it loses no RoCE packet."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import yaml
from pydantic import Field

from core.model import Model
from core.wording import plural
from core.yaml import text as yaml_text
from toolkit.evidence.configuration import MOST, ConfigurationParser, ConfigurationReading
from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of
from toolkit.evidence.host_parser import HostParser, HostReading, typed
from toolkit.evidence.parser import Taken
from toolkit.evidence.secrets import SECRET
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed


class NvueLeaf(Model):
    """A value of the tree, or a key that only exists."""

    path: str = Field(description="keys with dots between them, ranges such as swp1-4 as printed")
    value: str | None = Field(description="as printed; None: the key is all")


class NvueConfig(ConfigurationReading):
    """The configuration of one switch."""

    rows: tuple[NvueLeaf, ...]

    def value(self, path: str) -> str | None:
        """Return the value of a path; None: it is not set."""
        return next((row.value for row in self.rows if row.path == path), None)

    def _figures(self) -> str:
        return f"{self.host or 'a switch'}: {plural(len(self.rows), 'value')}"


_CONFIG_COMMAND = typed(r"nv config show\b")
_AT_THE_MARGIN = " -[]{}#"
_OPENINGS = ("", "[", "[{", "{")
"""What may be missing before a text of JSON, whose first lines any tool may print."""


class NvueConfigParser(ConfigurationParser):
    """Reads the tree that is below `set`."""

    tool = "nvue-config"
    kind = NvueConfig
    starts = (
        rf"{_CONFIG_COMMAND}|\s*\"?hashed-password\"?:|- +(?:header|set):\s*$| *(?:\[ *)?(?:\{{ *)?\"(?:header|set)\":"
    )
    leads = r"\s*[\[{]|# \S+, Cumulus Linux [\d.]+"
    command = re.compile(_CONFIG_COMMAND)
    prompt = re.compile(r"[\w.-]+@[\w.:~/-]+ ?[#$] *\w")
    by_line = False

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[str] = []
        self._fault: str | None = None

    def _statement(self, line: Line) -> Taken:
        """Read a line; another one at the margin than a tree has there is another program's."""
        if self._lines and line.text[0] not in _AT_THE_MARGIN:
            self._over = True
            return Taken.NO
        if len(self._lines) >= MOST:
            self._fault = f"more than {MOST} lines"
        else:
            self._lines.append(line.text)
        return Taken.YES

    def _facts(self) -> Mapping[str, object]:
        """Return the leaves; those whose path or value is a secret are counted."""
        leaves = self._leaves
        rows = tuple(leaf for leaf in leaves if not SECRET.search(f"{leaf.path} {leaf.value}"))
        host = next((row.value for row in rows if row.path == "system.hostname"), None)
        return {"host": host, "rows": rows, "hidden": self.hidden + len(leaves) - len(rows)}

    @cached_property
    def _leaves(self) -> Sequence[NvueLeaf]:
        content = _content("\n".join(self._lines))
        parts = content if isinstance(content, list) else [content]
        trees = (part["set"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("set"), Mapping))
        return [leaf for tree in trees for leaf in _flat(tree)]

    def _missing(self) -> Iterable[str | None]:
        return (self._fault, None if self._leaves else "no value below `set`")


def _content(text: str) -> Any:
    """Return what a text holds; None where it is neither YAML nor JSON, as one that is cut."""
    for opening in _OPENINGS:
        try:
            return yaml_text.read(f"{opening}{text}")
        except (yaml.YAMLError, RecursionError):
            continue
    return None


def _flat(tree: Mapping[Any, Any]) -> Iterator[NvueLeaf]:
    """Yield the leaves of a tree; `on`, which YAML takes for true, is on."""
    waiting: list[tuple[str, Any]] = [(_word(key), value) for key, value in reversed([*tree.items()])]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, Mapping) and value:
            waiting += [(f"{path}.{_word(key)}", inner) for key, inner in reversed([*value.items()])]
        else:
            empty = value is None or value in ({}, [])
            words = value if isinstance(value, list) else [value]
            yield NvueLeaf(path=path, value=None if empty else ",".join(map(_word, words)))


def _word(value: Any) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def _roce(job: Job) -> Outcome | None:
    """Return whether RoCE is on and lossless, which is what `nv set qos roce` means."""
    configurations = [
        configuration
        for configuration in readings_of(job, NvueConfig)
        if any(row.path.startswith("qos.roce") for row in configuration.rows)
    ]
    if not configurations:
        return None
    states = [_state(configuration) for configuration in configurations]
    measured = listed(
        f"{configuration.host}: {state}" for configuration, state in zip(configurations, states, strict=True)
    )
    return Outcome(passed({*states} == {"lossless"}), measured, proofs=opening_proofs(configurations))


def _state(configuration: NvueConfig) -> str:
    switched = configuration.value("qos.roce.enable") or configuration.value("qos.roce.state") or "on"
    return (configuration.value("qos.roce.mode") or "lossless") if switched in ("on", "enabled") else switched


class NvueRoce(HostReading):
    """The state of RoCE on one switch; values are the operational ones, else those applied."""

    state: str | None = Field(description="enabled, on, off or disabled; None: not printed")
    mode: str | None = Field(description="lossless or lossy; None: not printed")
    priorities: tuple[str, ...] = Field(description="switch priorities that PFC is on for")
    receives: str | None = Field(description="whether PFC is on for what is received; None: not printed")
    sends: str | None = Field(description="whether PFC is on for what is sent; None: not printed")
    marked: tuple[str, ...] = Field(description="traffic classes in which congestion is marked (ECN)")
    trust: tuple[str, ...] = Field(description="what classes packets, e.g. pcp, dscp")

    def _figures(self) -> str:
        return f"{self.mode}, PFC on {listed(self.priorities) or 'none'}"


_ROCE_COMMAND = typed(r"nv show qos roce\b")
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
    starts = _ROCE_COMMAND
    command = re.compile(_ROCE_COMMAND)

    def __init__(self) -> None:
        super().__init__()
        self._values: dict[str, str] = {}

    def _read_line(self, line: Line) -> Taken:
        if (value := _VALUE.match(line.text)) is not None:
            self._values.setdefault(value["key"], value["value"])
            return Taken.YES
        return Taken.YES if _GROUP.match(line.text) or _OTHER.match(line.text) else Taken.NO

    def _facts(self) -> Mapping[str, object]:
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

    def _missing(self) -> Iterable[str | None]:
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
        name="nvue-lossless",
        title="NVUE configures lossless RoCE",
        limit="qos.roce on, mode lossless",
        applies="configurations of NVUE with qos.roce",
        source="N-1.1, N-1.4",
        needs=("nvue-config",),
        judge=_roce,
    ),
    Criterion(
        name="cumulus-lossless",
        title="The Cumulus switch is lossless for RoCE",
        limit="mode lossless, PFC on 3 alone in both directions, ECN on traffic class 3, trust dscp",
        applies="Cumulus Linux switches with nv show qos roce output",
        source="N-1.1, N-1.4",
        needs=("nvue-roce",),
        judge=_lossless,
    ),
)
