"""mmlsconfig: settings of a Spectrum Scale cluster, of all nodes and of groups of them (R-3.3-7, R-3.4.5-4)."""

import re
from typing import ClassVar

from pydantic import Field

from evidence.blocks import HostParser, HostReading, typed
from evidence.parser import Common, Taken
from evidence.text import Line
from hardware.model import Model

MOST = 20_000
"""Settings that are kept: there are some hundred, each once a group of nodes."""


class ScaleSetting(Model):
    """A setting that is not the default."""

    group: str = Field(description="nodes that it is of: common for all, else a class or names, e.g. dgx")
    name: str = Field(description="e.g. pagepool")
    value: str = Field(description="as printed, e.g. 128G")
    line: int


class MmLsConfig(HostReading):
    """The settings."""

    cluster: str | None = Field(description="name of the cluster; None: not read")
    rows: tuple[ScaleSetting, ...]

    def value(self, name: str, group: str = "common") -> str | None:
        """Return what a group of nodes has: its own setting, else that of all nodes; None: the default."""
        told = {row.group: row.value for row in self.rows if row.name == name}
        return told.get(group, told.get("common"))


_COMMAND = typed(r"mmlsconfig\b")
_HEADER = re.compile(r"Configuration data for cluster (\S+):$")
_FOOTER = re.compile(r"(?:File systems in cluster (\S+):|\(none\))$")
_GROUP = re.compile(r"\[([A-Za-z0-9][\w.,-]*)\]$")
_SETTING = re.compile(r"([a-z][A-Za-z0-9_-]*) (\S.*)$")
_RULE = re.compile(r"-{5,}$")
_FILE_SYSTEM = re.compile(r"/dev/[\w.-]+$")


class MmLsConfigParser(HostParser):
    """Reads all settings; one that was asked for by name is printed without the frame, and not read."""

    tool: ClassVar[str] = "mmlsconfig"
    starts: ClassVar[str] = rf"Configuration data for cluster \S+:$|{_COMMAND}\s*$"
    command: ClassVar[re.Pattern[str] | None] = re.compile(rf"{_COMMAND}\s*$")
    contiguous: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self._cluster: str | None = None
        self._group: str | None = "common"
        self._rows: dict[tuple[str, str], ScaleSetting] = {}
        self._whole = False

    def take(self, line: Line) -> Taken:
        """Read a line."""
        text = line.text.rstrip()
        if (header := _HEADER.match(text)) is not None:
            again = self._cluster is not None
            self._cluster = self._cluster or header[1]
            return Taken.AGAIN if again else Taken.YES
        if self._cluster is None:
            return Taken.NO
        if (footer := _FOOTER.match(text)) is not None:
            self._whole = True
            return Taken.DAMAGED if footer[1] not in (None, self._cluster) else Taken.YES
        if _RULE.match(text) or (self._whole and _FILE_SYSTEM.match(text)):
            return Taken.YES
        return Taken.NO if self._whole else self._setting(text, line.number)

    def _setting(self, text: str, line: int) -> Taken:
        if text.startswith("["):
            # Of a group that cannot be read the settings are nobody's.
            group = _GROUP.match(text)
            self._group = group[1] if group else None
            return Taken.YES if group else Taken.DAMAGED
        if (setting := _SETTING.match(text)) is None:
            return Taken.NO
        name, value = setting[1], setting[2]
        if self._group is None or (self._group, name) in self._rows or len(self._rows) >= MOST:
            return Taken.DAMAGED
        self._rows[self._group, name] = ScaleSetting(group=self._group, name=name, value=value, line=line)
        return Taken.YES

    def reading(self, common: Common) -> MmLsConfig:
        """Return the settings."""
        missing = (
            None if self._cluster else "no settings",
            None if self._whole or not self._cluster else "no list of file systems after them",
        )
        return MmLsConfig(
            tool=self.tool,
            source=self.source,
            cluster=self._cluster,
            rows=tuple(self._rows.values()),
            **self.ending(*missing),
            **common,
        )
