"""Golden manifests: what a stack or a component declares, one YAML file an object, in a canonical form.

`make golden` writes them; a test that finds another text fails with the difference, which is what a reviewer reads. So
that a change is read once, an object that is much like another one of its kind says what it has otherwise: its file
has `like`, the file of that object, and `except`, the fields that differ.
"""

import difflib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.recorded import ROOT

UPDATE = "make golden"
STACKS = ("dev", "prod")
"""Stacks whose manifests are golden: the Redpaper's lab, and production on today's release."""
_OPTION = "--update-golden"
_SHORT = 80
"""Characters of the items of a list that is written as one line, wrapped; longer ones are each on their own."""
_LIKE = 2
"""How many times as long an object must be as what it has otherwise than another one."""

Golden = Callable[[Mapping[str, str], Path], None]
"""Compares files with those of a folder, or writes them there."""


class _Dumper(yaml.SafeDumper):
    """Writes text of several lines as a block, JSON as what it means, and short scalars of a list beside each other."""

    def ignore_aliases(self, _data: Any) -> bool:
        """Write what occurs twice twice: no one looks up an anchor in a review."""
        return True

    def str_node(self, value: str) -> yaml.Node:
        """Return the node of a text, or with the tag `!json` that of the object whose JSON it is."""
        if isinstance(tree := _tree(value), dict):
            return self.represent_mapping("!json", tree)
        return self.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)

    def list_node(self, value: list[Any]) -> yaml.SequenceNode:
        """Return the node of a list."""
        short = not any(isinstance(item, dict | list) or len(str(item)) > _SHORT or "\n" in str(item) for item in value)
        return self.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=short)


def _tree(text: str) -> object:
    if not text.startswith("{"):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


_Dumper.add_representer(str, _Dumper.str_node)
_Dumper.add_representer(list, _Dumper.list_node)


def files(manifests: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the canonical text of each manifest by the name of its file."""
    named: dict[str, Mapping[str, Any]] = {}
    for manifest in manifests:
        metadata = manifest["metadata"]
        parts = (manifest["kind"].lower(), metadata.get("namespace"), metadata["name"])
        name = "-".join(part for part in parts if part) + ".yaml"
        assert name not in named, f"two manifests are named {name}"
        named[name] = manifest
    texts: dict[str, str] = {}
    whole: dict[str, list[str]] = {}
    for name in sorted(named):
        manifest = named[name]
        full = text(manifest)
        others = whole.setdefault(manifest["kind"], [])
        short = [text({"like": other, "except": dict(_fields(manifest, named[other]))}) for other in others]
        best = min(short, key=_lines, default=full)
        if _lines(best) * _LIKE > _lines(full):
            others.append(name)
            best = full
        texts[name] = best
    return texts


def text(tree: Mapping[str, Any]) -> str:
    """Return a tree in the canonical form; keys in order, but for those of an object that is like another one."""
    return yaml.dump(tree, Dumper=_Dumper, width=120, allow_unicode=True, sort_keys="like" not in tree)


def _lines(text: str) -> int:
    return text.count("\n")


def _fields(value: Any, other: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield path and value of each field that differs from that of another object; null where it has none."""
    if value == other:
        return
    if isinstance(value, dict) and isinstance(other, dict):
        for key in sorted(value.keys() | other.keys()):
            yield from _fields(value.get(key), other.get(key), f"{path}.{key}" if path else key)
    elif (
        isinstance(value, list) and isinstance(other, list) and len(value) == len(other) and isinstance(value[0], dict)
    ):
        for index, pair in enumerate(zip(value, other, strict=True)):
            yield from _fields(*pair, f"{path}[{index}]")
    else:
        yield path, value


def differences(rendered: Mapping[str, str], folder: Path) -> str:
    """Return what differs from `folder`: files that appear or vanish by name, others as a unified diff."""
    stored = {file.name: file.read_text() for file in folder.glob("*") if file.is_file()}
    at = folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder
    lines = [f"appears: {at}/{name}\n" for name in sorted(rendered.keys() - stored.keys())]
    lines += [f"vanishes: {at}/{name}\n" for name in sorted(stored.keys() - rendered.keys())]
    for name in sorted(rendered.keys() & stored.keys()):
        before, after = stored[name].splitlines(keepends=True), rendered[name].splitlines(keepends=True)
        lines += difflib.unified_diff(before, after, f"{at}/{name}", f"{at}/{name} (rendered)")
    return "".join(lines)


def compare(rendered: Mapping[str, str], folder: Path) -> None:
    """Fail where the files of `folder` differ, and name the command that updates them."""
    if changed := differences(rendered, folder):
        pytest.fail(f"golden files differ; where the change is meant, run `{UPDATE}`\n{changed}", pytrace=False)


def write(rendered: Mapping[str, str], folder: Path) -> None:
    """Write the files of `folder`, and remove those of objects that are no more."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.glob("*"):
        if file.is_file() and file.name not in rendered:
            file.unlink()
    for name, content in rendered.items():
        (folder / name).write_text(content)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes the golden files in place of comparing them."""
    parser.addoption(_OPTION, action="store_true", help=f"write the golden files (`{UPDATE}`)")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Return what compares files with those of a folder, or writes them there with the option."""
    return write if request.config.getoption(_OPTION) else compare
