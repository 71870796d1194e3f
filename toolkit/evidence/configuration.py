"""Parsers of the running configurations of switches, of which no password and no hash is stored."""

import re
from abc import abstractmethod
from typing import ClassVar

from pydantic import Field

from toolkit.evidence.host_parser import LONGEST, HostParser, HostReading
from toolkit.evidence.parser import Taken
from toolkit.evidence.secrets import SECRET
from toolkit.evidence.text import Line

MOST = 20_000
"""Statements that are stored: a switch of 128 ports has some thousand."""


class ConfigurationReading(HostReading):
    """A configuration."""

    host: str | None = Field(description="name of the device; None: not printed")
    hidden: int = Field(default=0, ge=0, description="statements with passwords, keys and certificates, not read")


class ConfigurationParser(HostParser):
    """A parser of a configuration: all lines are its own until a command is typed at a prompt."""

    prompt: ClassVar[re.Pattern[str]]
    """A prompt with a command, or what ends a configuration."""

    by_line: ClassVar[bool] = True
    """Whether each line is a statement: else what is read of all of them must be free of secrets."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = 0
        self._quoted = False

    def feed(self, line: Line) -> Taken:
        """Read a line; one of any length with a secret is this tool's, so that no one stores it."""
        if self._begun and not self._over and (len(line.text) > LONGEST or self._secret(line.text)):
            self.hidden += 1
            return Taken.YES
        return super().feed(line)

    def _read_line(self, line: Line) -> Taken:
        if self._secret(line.text):
            self.hidden += 1
            return Taken.YES
        if self._begun and self.prompt.match(line.text):
            self._over = True
            return Taken.NO
        return self._statement(line)

    def _secret(self, text: str) -> bool:
        """Return whether a line is a secret, or is inside of quotes that opened with one."""
        if not self.by_line or text.startswith("##"):
            return False
        if self._quoted:
            self._quoted = text.count('"') % 2 == 0
            return True
        secret = SECRET.search(text) is not None
        self._quoted = secret and text.count('"') % 2 == 1
        return secret

    @abstractmethod
    def _statement(self, line: Line) -> Taken:
        """Read a line that is not a secret and no prompt."""
