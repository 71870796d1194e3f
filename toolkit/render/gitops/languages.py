"""Checks in the languages of GitOps tools: CEL for Flux, Lua for Argo CD (pure)."""

import json
from collections.abc import Callable, Sequence

from toolkit.render.gitops.expressions import (
    Check,
    Compare,
    Field,
    Here,
    Index,
    Logic,
    Observed,
    Present,
    Same,
    Search,
    Step,
    Test,
    Where,
)

Term = Compare | Present | Same | Search


def cel(check: Check, root: str = "") -> str:
    """Return a check as a CEL expression over the object's fields, or over those of the variable `root`.

    A missing field is not an error but a check that does not hold yet.
    """
    return _cel(root, check.path, check.value, 0)


def _cel(base: str, path: Sequence[Step], value: str | None, depth: int) -> str:
    match path:
        case []:
            return f"{base}.hasValue()" if value is None else f'{base}.orValue("") == {json.dumps(value)}'
        case [Field(name), *rest]:
            return _cel(f"{base}.?{name}" if base else name, rest, value, depth)
        case [Index(position), *rest]:
            return _cel(f"{base}[?{position}]", rest, value, depth)
        case [Here(test)]:
            return _test(test, lambda term: _cel_term(base, term), "&&", "||", "true")
        case [Where(test), *rest]:
            item = f"item{depth or ''}"
            generation = "object.metadata.generation" if base.startswith("object.") else "metadata.generation"
            observed = f"{item}.?observedGeneration.orValue({generation}) >= {generation}"
            inside = [_test(test, lambda term: _cel_term(item, term), "&&", "||", observed)]
            inside += [_cel(item, rest, value, depth + 1)] if rest else []
            return f"{base}.orValue([]).exists({item}, {' && '.join(inside)})"
    raise TypeError(path)


def _cel_term(item: str, term: Term) -> str:
    field = f"{item}.?{term.field}"
    match term:
        case Present():
            return f"{field}.hasValue()"
        case Same():
            return f'{field}.orValue("") == {item}.?{term.other}.orValue("")'
        case Search():
            return f'{field}.orValue("").matches({json.dumps(term.pattern)})'
        case Compare():
            missing = '""' if isinstance(term.value, str) else "0"
            return f"{field}.orValue({missing}) {term.operator} {json.dumps(term.value)}"


def lua(check: Check) -> str:
    """Return a check as a Lua expression, which uses the functions and variables of LUA_PRELUDE."""
    return _lua("obj", check.path, check.value)


LUA_PRELUDE = """\
local function get(value, key)
  if type(value) == "table" then return value[key] end
end
local function any(list, test)
  for _, item in ipairs(list or {}) do
    if test(item) then return true end
  end
  return false
end
local generation = get(obj.metadata, "generation") or 0
"""
"""Functions that the expressions use; nothing beyond Lua's base library, which Argo CD always has."""


def _lua(base: str, path: Sequence[Step], value: str | None) -> str:
    match path:
        case []:
            return f"{base} ~= nil" if value is None else f"{base} == {json.dumps(value)}"
        case [Field(name), *rest]:
            return _lua(f"get({base}, {json.dumps(name)})", rest, value)
        case [Index(position), *rest]:
            return _lua(f"get({base}, {position + 1})", rest, value)
        case [Here(test)]:
            return f"(function(item) return {_test(test, _lua_term, 'and', 'or', 'true')} end)({base})"
        case [Where(test), *rest]:
            observed = '(get(item, "observedGeneration") or generation) >= generation'
            inside = [_test(test, _lua_term, "and", "or", observed)]
            inside += [_lua("item", rest, value)] if rest else []
            return f"any({base}, function(item) return {' and '.join(inside)} end)"
    raise TypeError(path)


def _lua_term(term: Term) -> str:
    field = f"get(item, {json.dumps(term.field)})"
    match term:
        case Present():
            return f"{field} ~= nil"
        case Same():
            return f"{field} == get(item, {json.dumps(term.other)})"
        case Search():
            return f'string.find({field} or "", {json.dumps(term.pattern)}) ~= nil'
        case Compare(operator=">"):
            return f"({field} or 0) > {term.value}"
        case Compare():
            return f"{field} == {json.dumps(term.value)}"


def _test(test: Test, compare: Callable[[Term], str], both: str, either: str, observed: str) -> str:
    match test:
        case Compare() | Present() | Same() | Search():
            return compare(test)
        case Observed():
            return observed
        case Logic(operator, terms):
            texts = [_test(term, compare, both, either, observed) for term in terms]
            return f" {both} ".join(texts) if operator == "&&" else f"({f' {either} '.join(texts)})"
