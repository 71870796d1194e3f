"""`display current-configuration` of Comware 7: the links by LACP of an Ethernet switch."""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from core.wording import plural
from toolkit.evidence.configuration import MOST, ConfigurationParser, ConfigurationReading
from toolkit.evidence.criterion import Criterion, Outcome, passed, readings_of, row_proofs
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job
from toolkit.evidence.wording import listed


class ComwareLine(Record):
    """A line of the configuration."""

    text: str = Field(description="as printed; lines of a section begin with a blank")


class ComwareConfig(ConfigurationReading):
    """The configuration of one switch."""

    rows: tuple[ComwareLine, ...]

    def _figures(self) -> str:
        return f"{self.host or 'a switch'}: {plural(len(self.rows), 'line')}"


_PROMPT = r"(?:<[\w.-]+>|\[[~*]?[\w./-]+\])\s?"
_COMMAND = rf"{_PROMPT}dis(?:play)? cur\S*"
_LINE = re.compile(r" {1,4}\S.*|[a-z][\w-]*(?: .*)?$")


class ComwareConfigParser(ConfigurationParser):
    """Reads the configuration as the switch prints it, and as `./hpc site render` writes it."""

    tool = "comware-config"
    kind = ComwareConfig
    starts = rf"{_COMMAND}| password (?:hash|cipher|simple) | version 7\.\d+\.\d+, |system-view$| sysname \S+$"
    leads = r"#|# [\w.-]+"
    command = re.compile(_COMMAND)
    prompt = re.compile(rf"{_PROMPT}\w")

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[ComwareLine] = []
        self._more = False

    def _statement(self, line: Line) -> Taken:
        text = line.text
        if text.startswith("#"):
            return Taken.YES
        if _LINE.match(text) is None:
            return Taken.NO
        if text in ("return", "save force"):
            self._over = True
        elif text == "system-view":
            pass
        elif len(self._rows) >= MOST:
            self._more = True
        else:
            self._rows.append(ComwareLine(text=text, line=line.number))
        return Taken.YES

    def _facts(self) -> Mapping[str, object]:
        host = next((row.text.split()[1] for row in self._rows if re.match(r" sysname \S", row.text)), None)
        return {"host": host, "rows": tuple(self._rows), "hidden": self.hidden}

    def _missing(self) -> Iterable[str | None]:
        return (None if self._rows else "no line", f"more than {MOST} lines" if self._more else None)


_GROUP = re.compile(r"interface Bridge-Aggregation ?(\d+)$")
_MEMBER = re.compile(r" port link-aggregation group (\d+)$")


def _dynamic(job: Job) -> Outcome | None:
    """Return whether each group that has ports is dynamic: a static one does not speak LACP."""
    static: list[tuple[str, ComwareLine, str]] = []
    dynamic_groups: list[tuple[str, ComwareLine, str]] = []
    for configuration in readings_of(job, ComwareConfig):
        dynamic, used, group = set[str](), dict[str, ComwareLine](), None
        for row in configuration.rows:
            if not row.text.startswith(" "):
                match = _GROUP.match(row.text)
                group = match[1] if match else None
            elif group and row.text.strip() == "link-aggregation mode dynamic":
                dynamic.add(group)
            elif member := _MEMBER.match(row.text):
                used.setdefault(member[1], row)
        for number, row in used.items():
            (dynamic_groups if number in dynamic else static).append((configuration.file, row, f"group {number}"))
    if not dynamic_groups and not static:
        return None
    shown = static or dynamic_groups
    measured = f"{listed(text for *_, text in shown)}{': not dynamic' if static else ''}"
    return Outcome(passed(not static), measured, proofs=row_proofs((file, row) for file, row, _ in shown))


CRITERIA = (
    Criterion(
        name="aggregation-dynamic",
        title="Links of several ports use LACP",
        limit="link-aggregation mode dynamic",
        applies="Comware configurations with ports in groups",
        source="B-2.3",
        judge=_dynamic,
    ),
)
