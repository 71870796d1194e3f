"""Parsers of tools that print blocks of `key: value` lines."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from toolkit.evidence.host_parser import HostParser
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken

Forms = Mapping[str, re.Pattern[str]]
"""Key -> form of its value, whose named groups are fields of a record."""


class Block:
    """The values of a block of lines, each of a known form."""

    def __init__(self, forms: Forms, line: int, **fields: object) -> None:
        self.line = line
        self.damaged = False
        self._forms = forms
        self._extra = fields
        self._matches: dict[str, re.Match[str]] = {}

    def read_line(self, text: str, separator: str = ":") -> Taken:
        """Read a line; NO for an unknown key, DAMAGED for a value that is not of its form, or repeated."""
        key, colon, value = text.partition(separator)
        pattern = self._forms.get(key.strip())
        if pattern is None or not colon:
            return Taken.NO
        match = pattern.fullmatch(value.strip())
        if match is None or key.strip() in self._matches:
            self.damaged = True
            return Taken.DAMAGED
        self._matches[key.strip()] = match
        return Taken.YES

    def get(self, key: str) -> str | None:
        """Return a value; None when it was not printed."""
        match = self._matches.get(key)
        return match[0] if match is not None else None

    def groups(self) -> dict[str, str | None]:
        """Return the fields of its lines; None for those that were not printed."""
        absent = {name: None for pattern in self._forms.values() for name in pattern.groupindex}
        return absent | {name: value for match in self._matches.values() for name, value in match.groupdict().items()}

    def fields(self) -> dict[str, object]:
        """Return the fields of its record: the extra ones, those of its lines, and its line."""
        return {**self._extra, **self.groups(), "line": self.line}

    def lacks(self, *keys: str) -> list[str]:
        """Return which of these keys (all when none is named) were not printed."""
        return [key for key in keys or self._forms if key not in self._matches]


def whole(blocks: Mapping[str, Block], *needed: str) -> Iterator[Block]:
    """Yield the blocks that have these keys (all when none is named), and no damaged line."""
    return (block for block in blocks.values() if not block.lacks(*needed) and not block.damaged)


def cut(blocks: Mapping[str, Block], *needed: str) -> Iterator[str]:
    """Yield what the others lack."""
    for name, block in blocks.items():
        if absent := block.lacks(*needed):
            yield f"{name}: no {', '.join(absent)}"


class BlocksParser(HostParser):
    """A parser of a tool that prints a block for each row."""

    forms: ClassVar[Forms]
    needed: ClassVar[tuple[str, ...]] = ()
    """Keys without which a block is not whole; empty: all."""
    row: ClassVar[type[Record]]
    no_rows: ClassVar[str]
    """What is missing where no block was read, e.g. `no port`."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: dict[str, Block] = {}
        self.block: Block | None = None
        """The one that lines belong to."""

    def open(self, name: str, line: int, again: Taken = Taken.AGAIN, /, **fields: object) -> Taken:
        """Start a block; `again` is what a second one of its name means."""
        if name in self.blocks:
            return again
        self.block = self.blocks[name] = Block(self.forms, line, **fields)
        return Taken.YES

    def _fields_of(self, block: Block) -> Mapping[str, object]:
        """Return the fields of the row of a whole block."""
        return block.fields()

    def _fields(self) -> Mapping[str, object]:
        rows = tuple(self.row.model_validate(self._fields_of(block)) for block in whole(self.blocks, *self.needed))
        return {"rows": rows, **self._facts()}

    def _reasons(self) -> Iterable[str | None]:
        return (*cut(self.blocks, *self.needed), None if self.blocks else self.no_rows, *self._missing())


def compiled(forms: Mapping[str, str]) -> Forms:
    """Return compiled forms."""
    return {key: re.compile(form) for key, form in forms.items()}
