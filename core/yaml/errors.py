"""Errors of YAML texts in one line: the place as compilers have it, what is wrong there, and the remedy."""

import re
from typing import Any

import yaml

_REASONS = (
    ("could not find expected ':'", "a line that is no field and no entry; write `field: value` or `- entry`"),
    (r"expected ',' or '\]'", "a list begins here, and ] or a comma is missing in it; add it"),
    (r"expected ',' or '\}'", "a map begins here, and } or a comma is missing in it; add it"),
    (
        "expected <block end>.*'<scalar>'",
        "text follows a quoted value; quote all of it, and write a ' inside '...' twice",
    ),
    (
        "expected <block end>|did not find expected (key|'-' indicator)",
        "indented otherwise than what is above; begin the entries of one list or map in one column",
    ),
    ("found unexpected end of stream", "a quote that is never closed; close it"),
    ("cannot start any token", "a value cannot begin with this sign; quote it"),
    ("found undefined alias", "an alias * without its anchor & above; quote it if it is text"),
    ("second occurrence", "an anchor & that is given twice; rename one"),
    ("a constructor for the tag", "a tag ! that means nothing here; leave it out, or quote the value"),
    ("unhashable key", "a list or map in place of a field's name; quote it if it is text, e.g. '{{ a }}'"),
    ("but found another document", "a second document begins; leave one in the file"),
    ("sequence entries are not allowed", "an entry of a list behind its field; begin it in a line of its own"),
    ("unknown escape character", "no escape in double quotes; use single ones, or write \\\\ for a backslash"),
    ("node content, but found '<stream end>'", "the text ends within brackets; close them"),
    ("expected (the )?node content", "a value is missing; write it, and quote it if it begins with a sign of YAML"),
    ("for merging", "<< merges maps alone; name one by its alias *"),
    ("mapping values are not allowed", "a colon inside a value; quote the value"),
)
"""What PyYAML or libyaml calls wrong, and what a user reads of it."""
_AT_CONTEXT = re.compile("expected ',' or|could not find expected ':'|found unexpected end of stream")
"""Problems whose cause is where the part begins, and not where the parser stopped."""
_REMEDIED = ("; remove one", "or quote it")
"""How the problems end that our own readers raise."""


class FileError(ValueError):
    """A file that is no YAML; the message names it, the place, what is wrong there and the remedy."""


class TextError(yaml.YAMLError):
    """What is wrong with a text, in one line that begins with line and column, both from 1."""

    def __init__(self, line: int, column: int, reason: str) -> None:
        """Take a place from 1, and a reason with its remedy."""
        super().__init__(f"{line}:{column}: {reason}")


def described(error: yaml.YAMLError, text: str) -> TextError:
    """Return an error of PyYAML's about `text` with its place, in words for users."""
    if isinstance(error, yaml.reader.ReaderError):
        before = text[: error.position]
        return TextError(before.count("\n") + 1, len(before) - before.rfind("\n"), _unprintable(error.character))
    mark = _mark(error)
    line, column = (mark.line, mark.column) if mark else (0, 0)
    return TextError(line + 1, column + 1, reason(error, text))


def reason(error: yaml.YAMLError, text: str) -> str:
    """Return what is wrong where an error of PyYAML's about `text` is, and the remedy."""
    problem: str = getattr(error, "problem", None) or str(error)
    mark = _mark(error)
    lines = text.splitlines()
    row = lines[mark.line] if mark and mark.line < len(lines) else ""
    before = row[: mark.column] if mark else ""
    if "\t" in row[: len(before) + 1]:
        return "a tab; replace it by spaces, with which YAML is indented"
    if "mapping values are not allowed" in problem and not re.search(r":\s", before):
        return "a field below a value; begin it in the column of its neighbours, and write a space behind each colon"
    plain = next((words for pattern, words in _REASONS if re.search(pattern, problem)), problem)
    return plain if plain != problem or problem.endswith(_REMEDIED) else f"{problem}; correct it"


def _mark(error: yaml.YAMLError) -> Any:
    problem, marks = str(getattr(error, "problem", "")), [getattr(error, "problem_mark", None)]
    marks.insert(0 if _AT_CONTEXT.search(problem) else 1, getattr(error, "context_mark", None))
    return next((mark for mark in marks if mark), None)


def _unprintable(character: Any) -> str:
    number = f" (#x{character:04x})" if isinstance(character, int) else ""
    return f"a character that YAML does not have{number}; remove it, and save the file as UTF-8"
