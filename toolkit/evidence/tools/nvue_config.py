"""`nv config show` of Cumulus Linux, as YAML or JSON: the configuration of a switch as leaves."""

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
from toolkit.evidence.host_parser import typed
from toolkit.evidence.parser import Taken
from toolkit.evidence.secrets import SECRET
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job
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

    def figures(self) -> str:
        """Return the few figures that a table has room for."""
        return f"{self.host or 'a switch'}: {plural(len(self.rows), 'value')}"


_COMMAND = typed(r"nv config show\b")
_AT_THE_MARGIN = " -[]{}#"
_OPENINGS = ("", "[", "[{", "{")
"""What may be missing before a text of JSON, whose first lines any tool may print."""


class NvueConfigParser(ConfigurationParser):
    """Reads the tree that is below `set`."""

    tool = "nvue-config"
    kind = NvueConfig
    starts = rf"{_COMMAND}|\s*\"?hashed-password\"?:|- +(?:header|set):\s*$| *(?:\[ *)?(?:\{{ *)?\"(?:header|set)\":"
    leads = r"\s*[\[{]|# \S+, Cumulus Linux [\d.]+"
    command = re.compile(_COMMAND)
    prompt = re.compile(r"[\w.-]+@[\w.:~/-]+ ?[#$] *\w")
    by_line = False

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[str] = []
        self._fault: str | None = None

    def statement(self, line: Line) -> Taken:
        """Read a line; another one at the margin than a tree has there is another program's."""
        if self._lines and line.text[0] not in _AT_THE_MARGIN:
            self._over = True
            return Taken.NO
        if len(self._lines) >= MOST:
            self._fault = f"more than {MOST} lines"
        else:
            self._lines.append(line.text)
        return Taken.YES

    def facts(self) -> Mapping[str, object]:
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

    def missing(self) -> Iterable[str | None]:
        """Return why there are no leaves."""
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


CRITERIA = (
    Criterion(
        name="nvue-lossless",
        title="NVUE configures lossless RoCE",
        limit="qos.roce on, mode lossless",
        applies="configurations of NVUE with qos.roce",
        source="N-1.1, N-1.4",
        judge=_roce,
    ),
)
