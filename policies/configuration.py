"""What is set for the rules: the same JSON that the engine takes as `--policy-pack-config`.

```json
{"gpu-limit": {"enforcementLevel": "advisory", "maximum": 4}, "unverified-value": "mandatory"}
```
"""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from policies.findings import Doubt, Severity
from policies.rule import AnyRule, P, Rule
from policies.rules import RULES

LEVEL = "enforcementLevel"
DISABLED = "disabled"

_DOUBTS: Mapping[str, Severity] = dict.fromkeys(Doubt, Severity.ADVISORY)


class ConfigurationError(ValueError):
    """A configuration of the rules is wrong; the message names the field, the value and the remedy."""


class Configuration:
    """Levels and parameters of the rules; what is not set has its default."""

    def __init__(self, content: Mapping[str, Any] | None = None, rules: tuple[AnyRule, ...] = RULES) -> None:
        """Raise ConfigurationError for a rule, a level or a parameter that does not exist or has a wrong value."""
        known = {rule.name: rule for rule in rules}
        self._levels: dict[str, Severity | None] = {}
        self._parameters: dict[str, Any] = {}
        for name, given in (content or {}).items():
            if name not in known and name not in _DOUBTS:
                raise ConfigurationError(f"{name}: no such rule; known: {', '.join(sorted({*known, *_DOUBTS}))}")
            fields = {LEVEL: given} if isinstance(given, str) else given
            if not isinstance(fields, Mapping):
                raise ConfigurationError(f"{name}: {given!r} is neither a level nor an object with fields")
            fields = dict(fields)
            if LEVEL in fields:
                self._levels[name] = _level(name, fields.pop(LEVEL))
            if name in known:
                self._parameters[name] = _parameters(known[name], fields)
            elif fields:
                raise ConfigurationError(f"{name}: takes {LEVEL} only, not {', '.join(sorted(fields))}")

    def severity(self, rule: AnyRule) -> Severity | None:
        """Return the severity of a rule's findings; None when it is disabled."""
        return self._levels.get(rule.name, rule.severity)

    def doubts(self, doubt: Doubt) -> Severity | None:
        """Return the severity of doubts of one kind; None when they are not wanted."""
        return self._levels.get(doubt, _DOUBTS[doubt])

    def parameters(self, rule: Rule[P]) -> P:
        """Return the parameters of a rule."""
        found: P = self._parameters[rule.name] if rule.name in self._parameters else rule.parameters()
        return found


def _level(name: str, value: Any) -> Severity | None:
    levels = {**{str(level): level for level in Severity}, DISABLED: None}
    if value not in levels:
        raise ConfigurationError(f"{name}.{LEVEL}: {value!r} is not one of {', '.join(levels)}")
    return levels[value]


def _parameters(rule: AnyRule, fields: Mapping[str, Any]) -> Any:
    try:
        return rule.parameters.model_validate(fields)
    except ValidationError as error:
        known = ", ".join(rule.parameters.model_fields) or "none"
        lines = (
            f"{rule.name}.{'.'.join(map(str, each['loc']))}: {each['msg']} (is {each['input']!r}; parameters: {known})"
            for each in error.errors()
        )
        raise ConfigurationError("\n".join(lines)) from None
