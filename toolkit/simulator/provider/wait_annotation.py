"""The annotation `pulumi.com/waitFor`: what it says, and whether a live object satisfies it (pure)."""

import json
import re
from collections.abc import Callable

from core.apis.names import TIMEOUT_SECONDS, WAIT_FOR
from toolkit.engine.prediction.inputs import annotation
from toolkit.engine.prediction.readiness import Observation
from toolkit.engine.prediction.values import Properties
from toolkit.simulator.provider.jsonpath import BadPathError, compile_path
from toolkit.simulator.provider.observations import Seen
from toolkit.simulator.provider.readiness import text_of

Rule = Callable[[Seen], Observation]
_WAIT = re.compile(
    r"""\s*\{\s*(?P<path>(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^"'{}])*?)\s*\}\s*(?:=(?P<value>[^={][^=]*))?"""
)


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

    def judge(seen: Seen) -> Observation:
        observations = (rule(seen) for rule in rules)
        return next((observed for observed in observations if not observed.ready), Observation(ready=True))

    return judge


def _expressions(text: str) -> list[str]:
    try:
        value = json.loads(text)
    except ValueError:
        return [text]
    if value == []:
        raise BadWaitError("at least one condition must be specified")
    return value if isinstance(value, list) and all(isinstance(item, str) for item in value) else [text]


def _rule(expression: str) -> Rule:
    if expression.startswith("condition="):
        return _condition(expression)
    if expression.startswith("jsonpath="):
        return _jsonpath(expression.removeprefix("jsonpath="))
    raise BadWaitError(f'expected a "jsonpath=" or "condition=" prefix, got "{expression}"')


def _generation(live: Properties) -> int:
    return int(live.get("metadata", {}).get("generation", 0))


def _condition(expression: str) -> Rule:
    kind, _, status = expression.removeprefix("condition=").partition("=")
    expected = status or "True"

    def judge(seen: Seen) -> Observation:
        conditions = [
            item for item in (seen.live.get("status") or {}).get("conditions") or [] if isinstance(item, dict)
        ]
        match = next((item for item in conditions if str(item.get("type", "")).lower() == kind.lower()), None)
        if match is None:
            return Observation(ready=False, message=f"condition {kind} is not set, waiting for {expected}")
        observed = match.get("observedGeneration", (seen.live.get("status") or {}).get("observedGeneration"))
        if observed is not None and observed < _generation(seen.live):
            return Observation(ready=False, message="its controller has not seen the change yet")
        if str(match.get("status", "")).lower() == expected.lower():
            return Observation(ready=True)
        state = f"{match.get('status')}: {match.get('message', '')}".rstrip(": ")
        return Observation(ready=False, message=f"condition {kind} is {state}, waiting for {expected}")

    return judge


def split_value(expression: str) -> tuple[str, str]:
    """Return the path in braces and the value after `=`, as the official provider does since 4.34. Raises BadWaitError.

    Braces and signs of equality within the path are part of it; a value cannot be a path.
    """
    match = _WAIT.fullmatch(expression)
    if match is None:
        raise BadWaitError(f"{WAIT_FOR}: expected jsonpath={{.path}} or jsonpath={{.path}}=value, got {expression!r}")
    return match["path"], match["value"] or ""


def _jsonpath(expression: str) -> Rule:
    path, expected = split_value(expression)
    try:
        select = compile_path(path)
    except BadPathError as error:
        raise BadWaitError(f'parsing "{{{path}}}": {error}') from error

    def judge(seen: Seen) -> Observation:
        observed = (seen.live.get("status") or {}).get("observedGeneration")
        if isinstance(observed, int) and observed < _generation(seen.live):
            return Observation(ready=False, message="its controller has not seen the change yet")
        try:
            values = select(seen.live)
        except BadPathError as error:
            return Observation(ready=False, error=str(error))
        if not values:
            return Observation(ready=False, message=f"{{{path}}} selects nothing yet")
        if not expected:
            return Observation(ready=True)
        if isinstance(values[0], dict | list):
            return Observation(ready=False, error=f'"{{{path}}}" has a non-primitive value ({_as_go(values[0])})')
        value = text_of(values[0])
        return Observation(ready=value == expected, message=f"{{{path}}} is {value!r}, waiting for {expected!r}")

    return judge


def _as_go(value: object) -> str:
    match value:
        case dict():
            return f"map[{' '.join(f'{key}:{_as_go(item)}' for key, item in sorted(value.items()))}]"
        case list():
            return f"[{' '.join(map(_as_go, value))}]"
        case _:
            return text_of(value)


def timeout(inputs: Properties, requested: float, default: float) -> float:
    """Seconds to wait: the resource's customTimeouts, else the annotation, else the default of the kind."""
    text = annotation(inputs, TIMEOUT_SECONDS)
    return requested or (float(text) if text.lstrip("+-").isdigit() else default)
