"""JSONPath as `pulumi.com/waitFor: jsonpath={...}` uses it: RFC 9535 with the functions match and search (pure).

As in the parser of the official provider, a blank is refused before the second and each later `&&` of a test, unless
the test before it is a path alone; names have no dashes, and texts the escapes of JSON.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<text>"(?:[^"\\]|\\["\\/bfnrt]|\\u[0-9A-Fa-f]{4})*"|'(?:[^'\\]|\\['\\/bfnrt]|\\u[0-9A-Fa-f]{4})*')
  | (?P<number>-?\d+(?:\.\d+)?)
  | (?P<sign>\.\.|&&|\|\||==|!=|<=|>=|[\[\].*?@$()<>!:,])
  | (?P<name>[A-Za-z_]\w*)
    )""",
    re.VERBOSE,
)
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda left, right: bool(left == right),
    "!=": lambda left, right: bool(left != right),
    "<": lambda left, right: _ordered(left, right) and bool(left < right),
    ">": lambda left, right: _ordered(left, right) and bool(left > right),
    "<=": lambda left, right: left == right or (_ordered(left, right) and bool(left < right)),
    ">=": lambda left, right: left == right or (_ordered(left, right) and bool(left > right)),
}
_FUNCTIONS = {"match": re.fullmatch, "search": re.search}
_LITERALS = {"true": True, "false": False, "null": None}
_NOTHING = object()

Select = Callable[[Any], list[Any]]
Test = Callable[[Any], bool]


class BadPathError(ValueError):
    """The expression is not JSONPath (as far as it is understood here)."""


def compile_path(expression: str) -> Select:
    """Return a function from a value to what the path selects in it. Raises BadPathError."""
    text = expression.strip()
    parser = _Parser(text if text.startswith("$") else f"${text}")
    parser.expect("$")
    select = parser.segments()
    parser.end()
    return select


def _ordered(left: Any, right: Any) -> bool:
    numbers = (int, float)
    return (isinstance(left, str) and isinstance(right, str)) or (
        isinstance(left, numbers) and isinstance(right, numbers)
    )


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    at: int


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._split())
        self._next = 0

    def _split(self) -> Iterator[_Token]:
        position = 0
        while position < len(self._text.rstrip()):
            match = _TOKEN.match(self._text, position)
            if match is None:
                raise BadPathError(f"{self._text!r} is not JSONPath from {self._text[position:]!r} on")
            kind = match.lastgroup or ""
            yield _Token(kind, match.group(kind), position)
            position = match.end()

    def _peek(self, ahead: int = 0) -> _Token:
        index = self._next + ahead
        return self._tokens[index] if index < len(self._tokens) else _Token("end", "", len(self._text))

    def _consume(self) -> _Token:
        token = self._peek()
        self._next += 1
        return token

    def _accept(self, text: str) -> bool:
        if self._peek().kind == "sign" and self._peek().text == text:
            self._next += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self._accept(text):
            token = self._peek()
            raise BadPathError(f"{self._text!r}: expected {text!r} at {token.at}, found {token.text or 'the end'!r}")

    def end(self) -> None:
        if self._peek().kind != "end":
            raise BadPathError(f"{self._text!r}: {self._text[self._peek().at :]!r} is not understood")

    def segments(self) -> Select:
        """`.name`, `.*`, `[...]`, `..name`, any number of them."""
        steps: list[Select] = []
        while self._peek().kind == "sign" and self._peek().text in (".", "..", "["):
            deep = self._peek().text == ".."
            if self._accept(".") or self._accept(".."):
                step = self._bracket() if deep and self._peek().text == "[" else self._named()
            else:
                step = self._bracket()
            steps.append(_recursive(step) if deep else step)

        def select(value: Any) -> list[Any]:
            values = [value]
            for step in steps:
                values = [item for entry in values for item in step(entry)]
            return values

        return select

    def _named(self) -> Select:
        token = self._consume()
        if token.text == "*" and token.kind == "sign":
            return _children
        if token.kind != "name":
            raise BadPathError(f"{self._text!r}: expected a name at {token.at}")
        return _member(token.text)

    def _bracket(self) -> Select:
        self.expect("[")
        selectors = [self._selector()]
        while self._accept(","):
            selectors.append(self._selector())
        self.expect("]")
        return lambda value: [item for selector in selectors for item in selector(value)]

    def _selector(self) -> Select:
        if self._accept("*"):
            return _children
        if self._accept("?"):
            test = self._disjunction()
            return lambda value: [item for item in _children(value) if test(item)]
        token = self._peek()
        if token.kind == "text":
            return _member(_unquote(self._consume().text))
        if token.kind == "number" or token.text == ":":
            return self._index()
        raise BadPathError(f"{self._text!r}: expected a selector at {token.at}, found {token.text or 'the end'!r}")

    def _index(self) -> Select:
        bounds: list[int | None] = [self._integer()]
        while self._accept(":"):
            bounds.append(self._integer())
        if len(bounds) == 1:
            index = bounds[0] or 0
            return lambda value: value[index:][:1] if isinstance(value, list) and -len(value) <= index else []
        return lambda value: value[slice(*bounds)] if isinstance(value, list) else []

    def _integer(self) -> int | None:
        return int(self._consume().text) if self._peek().kind == "number" else None

    def _disjunction(self) -> Test:
        tests = [self._conjunction()]
        while self._accept("||"):
            tests.append(self._conjunction())
        return lambda item: any(test(item) for test in tests)

    def _conjunction(self) -> Test:
        tests = [self._basic()]
        while self._accept("&&"):
            start = self._next
            tests.append(self._basic())
            token, test = self._peek(), self._tokens[start : self._next]
            if token.text == "&&" and self._text[token.at].isspace() and not _is_path(test):
                break
        return lambda item: all(test(item) for test in tests)

    def _basic(self) -> Test:
        if self._accept("!"):
            inner = self._basic()
            return lambda item: not inner(item)
        if self._accept("("):
            test = self._disjunction()
            self.expect(")")
            return test
        if self._peek().text in _FUNCTIONS and self._peek(1).text == "(":
            return self._function()
        left, is_path = self._operand()
        operator = self._peek().text
        if self._peek().kind == "sign" and operator in _COMPARISONS:
            self._consume()
            right, _ = self._operand()
            compare = _COMPARISONS[operator]
            return lambda item: compare(_single(left(item)), _single(right(item)))
        if not is_path:
            raise BadPathError(f"{self._text!r}: a value alone is not a test")
        return lambda item: bool(left(item))

    def _function(self) -> Test:
        name = self._consume().text
        self.expect("(")
        text, _ = self._operand()
        self.expect(",")
        pattern, _ = self._operand()
        self.expect(")")

        def test(item: Any) -> bool:
            value, expression = _single(text(item)), _single(pattern(item))
            if _NOTHING in (value, expression):
                raise BadPathError(f"{name}() of nothing ends the official provider: test for its path first")
            return isinstance(value, str) and isinstance(expression, str) and bool(_FUNCTIONS[name](expression, value))

        return test

    def _operand(self) -> tuple[Select, bool]:
        if self._accept("@"):
            return self.segments(), True
        token = self._consume()
        value: Any
        if token.kind == "text":
            value = _unquote(token.text)
        elif token.kind == "number":
            value = float(token.text) if "." in token.text else int(token.text)
        elif token.kind == "name" and token.text in _LITERALS:
            value = _LITERALS[token.text]
        else:
            functions = " and ".join(_FUNCTIONS)
            raise BadPathError(f"{self._text!r}: expected a value or @ at {token.at}; of functions {functions} work")
        return lambda _: [value], False


def _is_path(test: list[_Token]) -> bool:
    return test[0].text == "@" and not {token.text for token in test} & {*_COMPARISONS}


def _single(values: list[Any]) -> Any:
    return values[0] if values else _NOTHING


def _unquote(text: str) -> str:
    inside = text[1:-1]
    if text.startswith("'"):
        inside = inside.replace("\\'", "'").replace('"', '\\"')
    return str(json.loads(f'"{inside}"', strict=False))


def _member(name: str) -> Select:
    return lambda value: [value[name]] if isinstance(value, dict) and name in value else []


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, list) else []


def _descend(value: Any) -> Iterator[Any]:
    yield value
    for child in _children(value):
        yield from _descend(child)


def _recursive(step: Select) -> Select:
    return lambda value: [item for inner in _descend(value) for item in step(inner)]
