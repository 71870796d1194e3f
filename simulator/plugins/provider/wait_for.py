"""The annotation `pulumi.com/waitFor`: what it says, and whether a live object satisfies it (pure)."""

import json
from typing import Any

from simulator.plugins.provider.inputs import ObjectType, annotation
from simulator.plugins.provider.jsonpath import BadPathError, compile_path
from simulator.plugins.provider.readiness import READY, Rule, Verdict, awaited, conditions
from simulator.plugins.provider.values import Properties

WAIT_FOR = "pulumi.com/waitFor"
# "true" skips every wait, "ready" all but that for deletion.
SKIP_AWAIT = "pulumi.com/skipAwait"
TIMEOUT_SECONDS = "pulumi.com/timeoutSeconds"


# Seconds, for waits that the annotation asks for (the official provider's default).
WAIT_FOR_TIMEOUT = 600.0


class BadWaitError(ValueError):
    """The annotation cannot be understood; the text says what is wrong with it."""


def wait_rule(inputs: Properties) -> Rule | None:
    """Return the rule that the object's annotation states: one expression, or a JSON list of which all must hold.

    None without the annotation. Raises BadWaitError.
    """
    text = annotation(inputs, WAIT_FOR)
    if not text:
        return None
    rules = [_rule(expression) for expression in _expressions(text)]

    def judge(live: Properties) -> Verdict:
        verdicts = [rule(live) for rule in rules]
        return next((verdict for verdict in verdicts if verdict.state != "ready"), READY)

    return judge


def _expressions(text: str) -> list[str]:
    try:
        value = json.loads(text)
    except ValueError:
        return [text]
    if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
        raise BadWaitError(f"{WAIT_FOR}: expected an expression or a JSON list of expressions, got {text!r}")
    return value


def _rule(expression: str) -> Rule:
    if expression.startswith("condition="):
        return _condition(expression)
    if expression.startswith("jsonpath="):
        return _jsonpath(expression.removeprefix("jsonpath="))
    raise BadWaitError(f'{WAIT_FOR}: expected a "jsonpath=" or "condition=" prefix, got {expression!r}')


def _condition(expression: str) -> Rule:
    kind, _, status = expression.removeprefix("condition=").partition("=")
    wanted = status or "True"

    def judge(live: Properties) -> Verdict:
        found = conditions(live).get(kind)
        if found and found.get("status") == wanted:
            return READY
        state = f"is {found.get('status')}: {found.get('message', '')}".rstrip(": ") if found else "is not set"
        return Verdict("waiting", f"condition {kind} {state}, waiting for {wanted}")

    return judge


def split_value(expression: str) -> tuple[str, str]:
    """Return the path in braces and the value after `=` (one inside the braces is the path's). Raises BadWaitError."""
    depth, quote, end = 0, "", 0
    for index, character in enumerate(expression):
        if quote:
            quote = "" if character == quote and expression[index - 1] != "\\" else quote
        elif depth and character in "\"'":
            quote = character
        elif character in "{}":
            depth += 1 if character == "{" else -1
            if depth == 0:
                end = index + 1
                break
    path, rest = expression[:end], expression[end:]
    if not path.startswith("{") or (rest and not rest.startswith("=")) or rest == "=":
        raise BadWaitError(f"{WAIT_FOR}: expected jsonpath={{.path}} or jsonpath={{.path}}=value, got {expression!r}")
    return path[1:-1], rest[1:]


def _jsonpath(expression: str) -> Rule:
    path, wanted = split_value(expression)
    try:
        select = compile_path(path)
    except BadPathError as error:
        raise BadWaitError(f"{WAIT_FOR}: {error}") from error

    def judge(live: Properties) -> Verdict:
        found = select(live)
        if not found:
            return Verdict("waiting", f"{{{path}}} selects nothing yet")
        if not wanted:
            return READY
        if isinstance(found[0], dict | list):
            return Verdict("failed", f"{{{path}}} selects an object or list, which cannot equal {wanted!r}")
        value = _text(found[0])
        return READY if value == wanted else Verdict("waiting", f"{{{path}}} is {value!r}, waiting for {wanted!r}")

    return judge


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def timeout(inputs: Properties, asked: float, default: float) -> float:
    """Seconds to wait: the resource's customTimeouts, else the annotation, else the default of the kind."""
    text = annotation(inputs, TIMEOUT_SECONDS)
    if asked:
        return asked
    try:
        return float(text) if text else default
    except ValueError as error:
        raise BadWaitError(f"{TIMEOUT_SECONDS}: {text!r} is not a number of seconds") from error


def rule_for(kind: ObjectType, inputs: Properties) -> tuple[Rule | None, float]:
    """Return what an object is waited for by and how long by default: its annotations, else its kind, else nothing."""
    if annotation(inputs, SKIP_AWAIT) in ("true", "ready"):
        return None, 0
    rule = wait_rule(inputs)
    if rule is not None:
        return rule, WAIT_FOR_TIMEOUT
    how = awaited(kind)
    return (how.rule, how.timeout) if how else (None, 0)


def rule_on_read(kind: ObjectType, inputs: Properties) -> Rule | None:
    """Return what a refresh looks at: only the built-in rules of workloads, as they are at that moment."""
    how = awaited(kind)
    told = annotation(inputs, SKIP_AWAIT) in ("true", "ready") or annotation(inputs, WAIT_FOR)
    return how.rule if how and how.on_read and not told else None
