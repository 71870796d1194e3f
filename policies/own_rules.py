"""Rules of a user's own, from Python files in folders of theirs: one `Rule` in a module of its name.

They are code of the project's folder, which whoever runs the policies trusts as they trust its program.
"""

import importlib.util
import re
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from core import project
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import AnyRule, Parameters, Rule

ROOT = project.FOLDER
"""The project's folder, in which the folders are."""
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_CORRECT = "Correct the rule: an object that it does not examine is not known to be right"


class OwnRulesError(ValueError):
    """A rule of one's own cannot be used; the message names file, line and remedy."""


def load(folders: Sequence[str], reserved: Sequence[str], root: Path | None = None) -> tuple[AnyRule, ...]:
    """Return the rules in folders below `root`, the project's by default.

    Raises OwnRulesError, also for a name that is `taken`.
    """
    return _load(tuple(folders), frozenset(reserved), root or ROOT)


@cache
def _load(folders: tuple[str, ...], reserved: frozenset[str], root: Path) -> tuple[AnyRule, ...]:
    rules: dict[str, AnyRule] = {}
    places: dict[str, str] = {}
    for folder in folders:
        for path in _files(folder, root):
            place = path.relative_to(root.resolve()).as_posix()
            rule = _rule(path, place)
            if rule.name in reserved:
                raise OwnRulesError(f"{place}: {rule.name} is a name of this project's policies; choose another one")
            if rule.name in rules:
                raise OwnRulesError(f"{place}: the rule {rule.name} is in {places[rule.name]}, too; rename one")
            rules[rule.name], places[rule.name] = rule, place
    return tuple(rules[name] for name in sorted(rules))


def _files(folder: str, root: Path) -> list[Path]:
    path = (root / folder).resolve()
    if not path.is_relative_to(root.resolve()):
        raise OwnRulesError(f"{folder} is outside of the project's folder, where its commits do not have it; move it")
    files = sorted(file for file in path.glob("*.py") if not file.name.startswith("_"))
    if not files:
        raise OwnRulesError(f"{folder} has no rule; write one in a file such as {folder}/our_rule.py")
    return files


def _rule(path: Path, place: str) -> AnyRule:
    """Return the rule in a file; what it raises later becomes a violation with its place."""
    if not _NAME.fullmatch(path.stem):
        raise OwnRulesError(f"{place}: {path.stem} is no name of a rule's module; use small letters, digits and _")
    rules = [value for value in vars(_module(path, place)).values() if isinstance(value, Rule)]
    if len(rules) != 1:
        raise OwnRulesError(f"{place} defines {len(rules)} rules; define exactly one")
    rule = rules[0]
    expected = path.stem.replace("_", "-")
    if rule.name != expected:
        raise OwnRulesError(f"{place} defines the rule {rule.name!r}; name it {expected!r}, or rename the file")
    return replace(rule, examine=_reporting(rule.examine, path, place))


def _module(path: Path, place: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"own_rules_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise OwnRulesError(f"{place} is no Python module; correct it")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise OwnRulesError(f"{place}:{error.lineno}: {error.msg}; correct it") from None
    except Exception as error:  # whatever a module may raise
        raise OwnRulesError(f"{_line(error, path, place)}: {_shown(error)}; correct it") from None
    return module


def _reporting(
    examine: Callable[[Obj, Inventory, Any], Iterator[Violation]], path: Path, place: str
) -> Callable[[Obj, Inventory, Any], Iterator[Violation]]:
    def reporting(subject: Obj, inventory: Inventory, parameters: Parameters) -> Iterator[Violation]:
        try:
            yield from examine(subject, inventory, parameters)
        except Exception as error:  # whatever a rule may raise; its other findings, and others' rules, stay
            message = f"the rule fails at {_line(error, path, place)}: {_shown(error)}"
            yield subject.violation(message, "kind").with_remedy(_CORRECT)

    return reporting


def _line(error: Exception, path: Path, place: str) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f"{place}:{lines[-1]}" if lines else place


def _shown(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]
