"""Files that `./hpc init` writes: YAML for people, with comments above what they are about."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

import yaml

from core import project
from core.files import write_atomically
from core.wording import some
from core.yaml import places
from toolkit.cli.init.decision import Keys
from toolkit.cli.shared.errors import Problem
from toolkit.review.sentences import visible

_WIDTH = 120
_SHORT = 80
"""Characters of a list that is in one line."""


class _Dumper(yaml.SafeDumper):
    """Writes lists of plain values in one line, and texts of several lines as such."""

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> Any:
        plain = all(not isinstance(item, Mapping | list | tuple) for item in sequence)
        short = sum(len(str(item)) + 2 for item in sequence) < _SHORT
        return super().represent_sequence(tag, sequence, flow_style=(plain and short) or flow_style)

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> Any:  # noqa: ARG002
        return super().increase_indent(flow, indentless=False)


def _text(dumper: yaml.SafeDumper, value: str) -> Any:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _text)


def dumped(content: Any) -> str:
    """Return content as YAML, in its own order."""
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, width=_WIDTH, allow_unicode=True)


def commented(text: str, comments: Iterable[tuple[Keys, str, Sequence[str]]]) -> str:
    """Return a YAML text with comments, each above the line of what its path leads to: a text, and lines as they are.

    What is not there is commented above the nearest part that would hold it.
    """
    root, rows = places.composed(text), text.splitlines()
    above: dict[int, list[str]] = {}
    for path, words, lines in comments:
        line = places.line(root, path)
        column = len(rows[line]) - len(rows[line].lstrip())
        above.setdefault(line, []).extend(
            [*_folded([words], column), *(f"{' ' * column}# {comment_line}" for comment_line in lines)]
        )
    return "".join(f"{row}\n" for number, line in enumerate(rows) for row in (*above.get(number, ()), line))


def head(lines: Sequence[str], verbatim: Sequence[str] = ()) -> str:
    """Return comments for the beginning of a file; those that are `verbatim` stay in one line each."""
    return "".join(f"{line}\n" for line in (*_folded(lines, 0), *(f"# {visible(line)}" for line in verbatim)))


def _folded(lines: Sequence[str], column: int) -> Iterator[str]:
    indent = " " * column
    for line in lines:
        folded = wrap(
            visible(project.located(line)), _WIDTH - column - 2, break_on_hyphens=False, break_long_words=False
        )
        yield from (f"{indent}# {part}".rstrip() for part in folded or [""])


def write(files: Mapping[Path, str], *, force: bool) -> None:
    """Write files by path; raise Problem, before any is written, where one is there and `force` is not given."""
    existing = sorted(path for path in files if path.exists())
    if existing and not force:
        raise Problem(
            f"{some([path.name for path in existing])} is there already, and may have been completed manually",
            "Give the stack another name, or overwrite it with --force.",
        )
    for path, content in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, content)
        except OSError as error:
            raise Problem(
                f"{path} cannot be written: {error.strerror or error}", "Give yourself the right to it."
            ) from None
