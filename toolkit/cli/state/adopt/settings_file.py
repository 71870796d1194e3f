"""`adopted` and `extra` in the file of a stack's settings, written without touching anything else in it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from core.apis import fields
from core.files import write_atomically
from core.yaml import places
from core.yaml import text as yaml_text
from stacks.loading.settings import KEY, PROJECT
from stacks.settings.platform import Settings
from toolkit.cli.shared.errors import Problem
from toolkit.cli.state.adopt.candidates import Candidate

ADOPTED, EXTRA = "adopted", "extra"
_PLACE = ("config", f"{PROJECT}:{KEY}")
_STEP = "  "


@dataclass(frozen=True)
class Addition:
    """What the settings get: names of objects, and merge patches by object."""

    adopted: tuple[str, ...]
    extra: Mapping[str, Mapping[str, Any]]

    def lines(self) -> str:
        """Return the lines for the settings, under the key of the platform."""
        lines = _lines(ADOPTED, list(self.adopted), _STEP * 2)
        return lines + (_lines(EXTRA, dict(self.extra), _STEP * 2) if self.extra else "")


def addition(chosen: Collection[Candidate], settings: Settings) -> Addition:
    """Return what settings get to adopt these objects, with what they have.

    A list in the file takes the place of that of a base, so it names all; extra fields merge.
    """
    names = {*settings.adopted, *(candidate.declared.label for candidate in chosen)}
    extra = {candidate.declared.label: candidate.extra for candidate in chosen if candidate.extra}
    return Addition(tuple(sorted(names)), dict(sorted(extra.items())))


def add(file: Path, added: Addition) -> bool:
    """Add objects and their fields; return whether any was missing. Comments, order and all else stay as they are.

    Raises Problem, with the lines to write manually, for a file in which that cannot be done safely.
    """
    text = file.read_text()
    before = yaml_text.read(text)["config"][_PLACE[1]]
    own = before.get(EXTRA) or {}
    extra = {name: fields.composed(own.get(name) or {}, patch) for name, patch in added.extra.items()}
    changed: str | None = text
    expected = dict(before)
    if not {*added.adopted} <= {*(before.get(ADOPTED) or ())}:
        expected[ADOPTED] = list(added.adopted)
        changed = _written(text, (), ADOPTED, expected[ADOPTED])
    if extra:
        expected[EXTRA] = own | extra
        if not own:
            changed = changed and _written(changed, (), EXTRA, extra)
        for name, patch in extra.items() if own else ():
            changed = changed and _written(changed, (EXTRA,), name, patch)
    if changed == text:
        return False
    if changed is None or _settings_of(changed) != expected:
        raise Problem(
            f"{file.name} is written in a way that this cannot add to",
            f"Write these lines under {_PLACE[1]} yourself, and run the same command again:\n{added.lines()}",
        )
    write_atomically(file, changed)
    return True


def _lines(key: str, value: Any, indent: str) -> str:
    text = yaml.dump({key: value}, Dumper=_Dumper, sort_keys=True, width=100, allow_unicode=True)
    return "".join(f"{indent}{line}" if line.strip() else line for line in text.splitlines(keepends=True))


class _Dumper(yaml.SafeDumper):
    """Writes lists below their key, indented, and texts of several lines as such."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        super().increase_indent(flow, False)

    def text(self, value: str) -> yaml.ScalarNode:
        style = "|" if "\n" in value else None
        return self.represent_scalar("tag:yaml.org,2002:str", value, style)


_Dumper.add_representer(str, _Dumper.text)


def _written(text: str, place: Sequence[str], key: str, value: Any) -> str | None:
    """Return the text with a value in the place of the one of that key, or at the end of the map at a place."""
    node = places.value(places.composed(text), *_PLACE, *place)
    if not isinstance(node, yaml.MappingNode) or node.flow_style or not node.value:
        return None
    lines = _lines(key, value, " " * node.value[0][0].start_mark.column)
    rows = text.splitlines(keepends=True)
    for name, inner in node.value:
        if name.value == key:
            return "".join([*rows[: name.start_mark.line], lines, *rows[_last(inner) + 1 :]])
    end = _last(node) + 1
    if end == len(rows) and not rows[-1].endswith("\n"):
        rows[-1] += "\n"
    return "".join([*rows[:end], lines, *rows[end:]])


def _last(node: Any) -> int:
    """Return the last line that a node has something on: the end of a block is where the next thing begins."""
    children = [child for pair in node.value for child in pair] if isinstance(node, yaml.MappingNode) else []
    children = list(node.value) if isinstance(node, yaml.SequenceNode) else children
    if children and not node.flow_style:
        return max(_last(child) for child in children)
    mark = node.end_mark
    return int(mark.line if mark.column else mark.line - 1)


def _settings_of(text: str) -> Any:
    try:
        return yaml_text.read(text)["config"][_PLACE[1]]
    except yaml.YAMLError:
        return None
