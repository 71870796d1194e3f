"""Wait expressions as trees: reads what `components.base.waits` writes, for the languages of other tools."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from core.errors import UserError


class ExpressionError(UserError):
    """A wait expression has a form that no other tool's language is written for."""


@dataclass(frozen=True)
class Compare:
    """Whether a field of a list's item has a value, or a number is greater."""

    field: str
    operator: str
    value: str | int


@dataclass(frozen=True)
class Present:
    """Whether an item has a field."""

    field: str


@dataclass(frozen=True)
class Same:
    """Whether two fields of an item have the same value."""

    field: str
    other: str


@dataclass(frozen=True)
class Search:
    """Whether a regular expression is found in a field: one that is also a pattern of Lua, as `[.]v?26[.]3[.]`."""

    field: str
    pattern: str


@dataclass(frozen=True)
class Observed:
    """Whether a condition is about the object's current generation."""


@dataclass(frozen=True)
class Logic:
    """Several tests, joined by `&&` or `||`."""

    operator: str
    terms: tuple["Test", ...]


Test = Compare | Present | Same | Search | Observed | Logic


@dataclass(frozen=True)
class Field:
    """A field of an object."""

    name: str


@dataclass(frozen=True)
class Index:
    """An item of a list by its position."""

    position: int


@dataclass(frozen=True)
class Where:
    """The items of a list that pass a test."""

    test: Test


@dataclass(frozen=True)
class Here:
    """The object at this place, if it passes a test."""

    test: Test


Step = Field | Index | Where | Here


@dataclass(frozen=True)
class Check:
    """A path that selects something, or a path whose value is this one."""

    path: tuple[Step, ...]
    value: str | None = None


_STEP = re.compile(r'\.(?P<field>\w+)|\[(?P<index>\d+)\]|\[\?\((?P<test>(?:"[^"]*"|[^"\]])*)\)\]')
_SYMBOL = re.compile(r'\s*(\|\||&&|search\(@\.\w+, "[^"]*"\)|[()]|@\.\w+|==|>|"[^"]*"|\d+)')
_SEARCH = re.compile(r'search\(@\.(\w+), "([^"]*)"\)')
_CONDITION, _PATH = "condition=", "jsonpath={"


def parse(expression: str) -> Check:
    """Return the check that an expression of the annotation `pulumi.com/waitFor` states. Raises ExpressionError."""
    if expression.startswith(_CONDITION):
        terms = (Compare("type", "==", expression.removeprefix(_CONDITION)), Compare("status", "==", "True"))
        test = Logic("&&", (*terms, Observed()))
        return Check((Field("status"), Field("conditions"), Where(test)))
    path, closed, value = expression.removeprefix(_PATH).rpartition("}")
    if not expression.startswith(_PATH) or not closed or (value and not value.startswith("=")):
        raise ExpressionError(f"cannot read the wait expression {expression!r}; write it with components.base.waits")
    steps = tuple(_steps(path))
    match steps:
        case [Where(condition), Field(name)] if not value and _has(condition, name):
            # A test of the object's own parts: only its status has such fields.
            steps = (Field("status"), Here(condition))
        case [*before, Where(condition) as items, Field(name)] if not value and _has(condition, name):
            steps = (*before, items)
    return Check(steps, value.removeprefix("=") or None)


def _has(test: Test, name: str) -> bool:
    """Return whether an item that passes the test has the field."""
    if isinstance(test, Logic):
        return (any if test.operator == "&&" else all)(_has(term, name) for term in test.terms)
    return isinstance(test, Compare | Present | Search) and test.field == name


def _steps(path: str) -> Iterator[Step]:
    end = 0
    while end < len(path):
        match = _STEP.match(path, end)
        if match is None:
            raise ExpressionError(
                f"cannot read {path[end:]!r} in the wait expression {path!r}; use components.base.waits"
            )
        end = match.end()
        if match["field"]:
            yield Field(match["field"])
        elif match["index"]:
            yield Index(int(match["index"]))
        else:
            if rest := _SYMBOL.sub("", match["test"]).strip():
                raise ExpressionError(
                    f"cannot read {rest!r} in the wait expression {path!r}; use components.base.waits"
                )
            yield Where(_joined(iter(_SYMBOL.findall(match["test"]))))


def _joined(symbols: Iterator[str]) -> Test:
    """Return the test up to the closing parenthesis; `&&` binds closer than `||`."""
    groups: list[list[Test]] = [[]]
    for symbol in takewhile(lambda item: item != ")", symbols):
        if match := _SEARCH.fullmatch(symbol):
            groups[-1].append(Search(*match.groups()))
        elif symbol == "||":
            groups.append([])
        elif symbol == "(":
            groups[-1].append(_joined(symbols))
        elif symbol.startswith("@."):
            groups[-1].append(Present(symbol.removeprefix("@.")))
        elif symbol in ("==", ">"):
            groups[-1][-1] = _compared(groups[-1][-1], symbol, next(symbols))
    return _logic("||", tuple(_logic("&&", tuple(group)) for group in groups))


def _compared(left: Test, operator: str, right: str) -> Test:
    if not isinstance(left, Present):
        raise ExpressionError(f"cannot read the left side of {operator} {right}; use components.base.waits")
    if right.startswith("@."):
        return Same(left.field, right.removeprefix("@."))
    return Compare(left.field, operator, right[1:-1] if right.startswith('"') else int(right))


def _logic(operator: str, terms: tuple[Test, ...]) -> Test:
    return terms[0] if len(terms) == 1 else Logic(operator, terms)
