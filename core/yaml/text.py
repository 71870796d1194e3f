"""Readers of YAML, by libyaml where it is installed: it takes a tenth of the time.

Plain scalars of manifests are as Kubernetes reads them (sigs.k8s.io/yaml): YAML 1.1 without its base 60 and its dates.
"""

import math
import re
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from core.yaml.errors import FileError, described

Scalar: TypeAlias = str | int | float | bool | None


LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEPTH = 5_000
"""Levels that are safe for libyaml's binding: it knows no limit, and ends the process at some tens of thousands."""


_TAG = "tag:yaml.org,2002:"
_TEXT = f"{_TAG}str"


class DuplicateKeyError(yaml.constructor.ConstructorError):
    """A mapping has the same key more than once."""


class _Loader(LOADER):  # type: ignore[misc]  # which of the two it is, the machine decides
    """A safe loader that refuses duplicate keys: one of the two values would be lost."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._examined: set[yaml.MappingNode] = set()

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Merge what `<<` names; raise DuplicateKeyError for a duplicate key beside it."""
        # A mapping is flattened again when another one merges it, and then has both's keys.
        if node not in self._examined:
            self._examined.add(node)
            _refuse_duplicates(node)
        super().flatten_mapping(node)


class _MarkedLoader(yaml.SafeLoader):
    """A safe loader that marks values which do not exist."""

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        """Return the value of a node; raise ConstructorError for a date or a number that does not exist."""
        try:
            return super().construct_object(node, deep)
        except ValueError as error:
            problem = f"a date or a number that does not exist ({error}); correct it, or quote it"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None


def _refuse_duplicates(node: yaml.MappingNode) -> None:
    seen: set[str] = set()
    for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
        if key.value in seen:
            raise DuplicateKeyError(None, None, f"{key.value} is given twice; remove one", key.start_mark)
        seen.add(key.value)


def read(text: str) -> Any:
    """Return the content of a text of one document; raise TextError, with place, reason and remedy in one line.

    Raises RecursionError for a text that is nested too deeply.
    """
    if _depth(text) > _DEPTH:
        return yaml.safe_load(text)
    try:
        return yaml.load(text, _Loader)  # noqa: S506 - a safe loader
    except DuplicateKeyError as error:
        raise described(error, text) from None
    except (yaml.YAMLError, ValueError):
        return _read_with_marks(text)


def read_file(path: Path, name: str) -> Any:
    """Return the content of a file of one document; raise FileError, which calls it `name`, and OSError."""
    try:
        return read(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise FileError(f"{name}: is not text in UTF-8; save it as such") from None
    except RecursionError:
        raise FileError(f"{name}: is nested too deeply; correct it") from None
    except yaml.YAMLError as error:
        raise FileError(f"{name}:{error}") from None


def _read_with_marks(text: str) -> Any:
    """Read a wrong text by PyYAML's own loader, whose errors have the reason and where the part begins."""
    try:
        return yaml.load(text, _MarkedLoader)  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        raise described(error, text) from None


class _ManifestLoader(_Loader):
    """A loader of manifests, whose plain scalars are what they are for Kubernetes: a date is a text."""

    def construct_scalar_as_kubernetes(self, node: yaml.ScalarNode) -> Any:
        """Return the value of a scalar; a quoted one, and one that is tagged as a text, is a text."""
        tagged = node.tag == _TEXT and self.resolve(yaml.ScalarNode, node.value, (True, False)) != _TEXT
        return node.value if node.style or tagged else resolve(node.value)


for _kind in ("str", "int", "float", "bool", "null", "timestamp"):
    _ManifestLoader.add_constructor(f"{_TAG}{_kind}", _ManifestLoader.construct_scalar_as_kubernetes)


def documents(text: str) -> list[tuple[Any, Any]]:
    """Return node and content of every document of a text that is not empty; raise TextError as `read` does.

    Raises RecursionError for a text that is nested too deeply.
    """
    if _depth(text) > _DEPTH:
        raise RecursionError("nested too deeply")
    loader = _ManifestLoader(text)
    pairs = []
    try:
        while loader.check_node():
            node = loader.get_node()
            if (content := loader.construct_document(node)) is not None:
                pairs.append((node, content))
    except yaml.YAMLError as error:
        raise described(error, text) from None
    finally:
        loader.dispose()
    return pairs


def read_all(text: str) -> list[Any]:
    """Return the documents of a text that is this project's or a pinned module's; raise yaml.YAMLError."""
    return [document for document in yaml.load_all(text, LOADER) if document]


def _depth(text: str) -> int:
    """Return a depth that is not exceeded: a bracket opens a level, and others are further right, two in a column."""
    return text.count("[") + text.count("{") + 2 * max(map(len, text.split("\n")))


_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((f"{sign}{word}" for sign in ("", "+") for word in (".inf", ".Inf", ".INF")), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_NUMERIC = frozenset("0123456789+-.")
_BASES = {"x": 16, "o": 8, "b": 2}
_INTEGER = re.compile(r"([-+]?)(?:0([xXoObB])([0-9a-fA-F]+)|(0[0-7]+)|(0|[1-9][0-9]*))")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_LONGEST = 400
"""Characters of a number; a double has 309 digits at most, and Python reads long integers in quadratic time."""
_LOWEST, _HIGHEST = -(2**63), 2**64 - 1


def resolve(text: str) -> Scalar:
    """Return what a plain scalar stands for; a number that fits neither 64 bits nor a double stays text."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMERIC or len(text) > _LONGEST:
        return text
    plain = text.replace("_", "")
    number: int | float | None = _integer(plain)
    if number is None and _FLOAT.fullmatch(plain):
        number = _double(text if text[0] == "." else plain)
        if number is not None and number.is_integer() and _LOWEST <= number <= _HIGHEST:
            return int(number)  # as JSON writes it
    return text if number is None else number


def _double(plain: str) -> float | None:
    try:
        number = float(plain)
    except ValueError:  # ._5: behind a leading point an underscore is between digits only
        return None
    return number if math.isfinite(number) else None


def _integer(plain: str) -> int | None:
    match = _INTEGER.fullmatch(plain)
    if match is None:
        return None
    sign, base, digits, octal, decimal = match.groups()
    try:
        number = int(digits or octal or decimal, _BASES[base.lower()] if base else 8 if octal else 10)
    except ValueError:  # 0b12
        return None
    number = -number if sign == "-" else number
    return number if _LOWEST <= number <= _HIGHEST else None
