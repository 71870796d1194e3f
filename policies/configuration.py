"""The configuration of the rules: the same JSON that the engine takes as `--policy-pack-config`.

```json
{"gpu-limit": {"enforcementLevel": "advisory", "maximum": 4}, "unverified-value": "mandatory"}
```

The engine gives the level of `all` to each policy before it sends the configuration; files take it from here.
"""

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core import field_errors
from policies import own_rules
from policies.own_rules import OwnRulesError
from policies.rule import AnyRule, P, Rule, Severity, Undetermined
from policies.rules import RULES

LEVEL = "enforcementLevel"
DISABLED = "disabled"
ALL = "all"
EXCEPTIONS = "exceptions"
WHOLE_STACK = "whole-stack"
COMPLETE = "complete"
BESIDE = "beside"
OWN_RULES = "own-rules"
FOLDERS = "folders"
PARAMETERS = "parameters"
_LEVELS: Mapping[Any, Severity | None] = {
    **{str(level): level for level in Severity},
    "remediate": Severity.MANDATORY,  # the engine knows it; no rule changes an object
    DISABLED: None,
}

_UNDETERMINED: Mapping[str, Severity] = dict.fromkeys(Undetermined, Severity.ADVISORY)


class ConfigurationError(ValueError):
    """A configuration of the rules is wrong; the message names the field, the value and the remedy."""


@dataclass(frozen=True)
class General:
    """What is configured for no single rule.

    `complete` says whether the objects are complete, and is None where that is not set; `ended` is the severity of
    exceptions that have expired, None when they are not reported; `beside` are manifests of other stacks on the same
    cluster, at which links may end and which are not examined themselves; `own` are rules of the user's own.
    """

    complete: bool | None = None
    ended: Severity | None = Severity.MANDATORY
    beside: tuple[Mapping[str, Any], ...] = ()
    own: tuple[AnyRule, ...] = ()


def divide(content: Mapping[str, Any]) -> tuple[dict[str, Any], General]:
    """Divide a configuration into that of rules and undetermined findings, with the level of `all`, and the rest.

    Raise ConfigurationError for a field or a level that does not exist or has a wrong value.
    """
    policies, site_rules = _flat(content)
    if ALL in policies:
        level = {LEVEL: _fields(ALL, policies.pop(ALL), LEVEL).get(LEVEL)}
        _level(ALL, level[LEVEL])
        for name in (*(rule.name for rule in (*RULES, *site_rules)), *_UNDETERMINED, EXCEPTIONS):
            fields = policies.get(name, {})
            policies[name] = {**level, **fields} if isinstance(fields, Mapping) else fields
    expired = _fields(EXCEPTIONS, policies.pop(EXCEPTIONS, {}), LEVEL).get(LEVEL, Severity.MANDATORY)
    whole_stack = _fields(WHOLE_STACK, policies.pop(WHOLE_STACK, {}), LEVEL, COMPLETE, BESIDE)
    complete = whole_stack.get(COMPLETE)
    if complete is not None and not isinstance(complete, bool):
        raise ConfigurationError(f"{WHOLE_STACK}.{COMPLETE}: {complete!r} must be true or false")
    beside = whole_stack.get(BESIDE, ())
    if not isinstance(beside, list | tuple) or not all(isinstance(manifest, Mapping) for manifest in beside):
        raise ConfigurationError(f"{WHOLE_STACK}.{BESIDE}: must be a list of manifests")
    return policies, General(complete, _level(EXCEPTIONS, expired), tuple(beside), site_rules)


def with_site_rules(content: Mapping[str, Any], folders: Sequence[str]) -> dict[str, Any]:
    """Return a configuration with rules of one's own from folders of the project; raise ConfigurationError.

    What is set for them goes with the folders: the engine knows no policies but those that the pack begins with.
    """
    if not folders:
        return dict(content)
    names = {rule.name for rule in _own(folders)}
    level = {LEVEL: _fields(ALL, content[ALL], LEVEL).get(LEVEL)} if ALL in content else {}
    parameters = {name: merge({name: level}, {name: content.get(name, {})})[name] for name in sorted(names)}
    others = {name: fields for name, fields in content.items() if name not in names}
    # With a level of its own, or that of `all` would be it: the rules have theirs.
    always = {LEVEL: str(Severity.MANDATORY)}
    return {**others, OWN_RULES: {**always, FOLDERS: list(folders), PARAMETERS: parameters}}


def _flat(content: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[AnyRule, ...]]:
    """Return a configuration with what is set for rules of one's own beside the others', and these rules."""
    policies = dict(content)
    settings = _fields(OWN_RULES, policies.pop(OWN_RULES, {}), FOLDERS, PARAMETERS, LEVEL)
    folders = settings.get(FOLDERS, ())
    if not isinstance(folders, list | tuple) or not all(isinstance(folder, str) for folder in folders):
        raise ConfigurationError(f"{OWN_RULES}.{FOLDERS}: {folders!r} must be a list of folders")
    return merge(_fields(OWN_RULES, settings.get(PARAMETERS, {})), policies), _own(folders)


def _own(folders: Sequence[str]) -> tuple[AnyRule, ...]:
    taken = (*(rule.name for rule in RULES), *_UNDETERMINED, ALL, EXCEPTIONS, WHOLE_STACK, OWN_RULES)
    try:
        return own_rules.load(folders, taken)
    except OwnRulesError as error:
        raise ConfigurationError(str(error)) from None


def unknown_rule(name: str, names: Iterable[str]) -> str:
    """Return the message for a rule that does not exist, with those of similar names."""
    similar = difflib.get_close_matches(name, sorted(names))
    hint = f"did you mean {' or '.join(similar)}?" if similar else "docs/reference/policies/README.md lists all of them"
    return f"{name}: no such rule; {hint}"


class Configuration:
    """Levels and parameters of the rules; what is not set has its default."""

    def __init__(self, content: Mapping[str, Any] | None = None, rules: tuple[AnyRule, ...] = RULES) -> None:
        """Raise ConfigurationError for a rule, a level or a parameter that does not exist or has a wrong value."""
        by_name = {rule.name: rule for rule in rules}
        self._levels: dict[str, Severity | None] = {}
        self._parameters: dict[str, Any] = {}
        for name, settings in (content or {}).items():
            if name not in by_name and name not in _UNDETERMINED:
                raise ConfigurationError(unknown_rule(name, (*by_name, *_UNDETERMINED, ALL, EXCEPTIONS, WHOLE_STACK)))
            fields = _fields(name, settings) if name in by_name else _fields(name, settings, LEVEL)
            if LEVEL in fields:
                self._levels[name] = _level(name, fields.pop(LEVEL))
            if name in by_name:
                self._parameters[name] = _parameters(by_name[name], fields)

    def severity(self, rule: AnyRule) -> Severity | None:
        """Return the severity of a rule's findings; None when it is disabled."""
        return self._levels.get(rule.name, rule.severity)

    def undetermined(self, reason: Undetermined) -> Severity | None:
        """Return the severity of undetermined findings of one kind; None when they are disabled."""
        return self._levels.get(reason, _UNDETERMINED[reason])

    def parameters(self, rule: Rule[P]) -> P:
        """Return the parameters of a rule."""
        parameters: P = self._parameters[rule.name] if rule.name in self._parameters else rule.parameters()
        return parameters


def _fields(name: str, settings: Any, *allowed: str) -> dict[str, Any]:
    """Return what is set under a name, which may be the level alone; where some are `known`, others are refused."""
    fields = {LEVEL: settings} if isinstance(settings, str) else settings
    if not isinstance(fields, Mapping):
        raise ConfigurationError(f"{name}: {settings!r} is neither a level nor an object with fields")
    if allowed and (more := sorted(set(fields).difference(allowed))):
        raise ConfigurationError(f"{name}: takes {' and '.join(allowed)} only, not {', '.join(more)}")
    return dict(fields)


def merge(base: Mapping[str, Any], override: Mapping[str, Any]) -> dict[str, Any]:
    """Put what is given over a configuration, field by field; a level alone leaves the parameters as they are."""
    result = dict(base)
    for name, value in override.items():
        fields = {LEVEL: value} if isinstance(value, str) and name in base else value
        both = isinstance(fields, Mapping) and isinstance(base.get(name), Mapping)
        result[name] = {**base[name], **fields} if both else fields
    return result


def with_file(base: Mapping[str, Any], file: Path | None) -> dict[str, Any]:
    """Return a configuration with that of a file over it; raise ConfigurationError, naming it, for a fault in the file.

    The engine's own message for a rule that does not exist has no name in it, so that all of it is checked here.
    """
    if file is None:
        return dict(base)
    try:
        flat, _ = _flat(base)
        configuration = with_site_rules(merge(flat, _read(file)), base.get(OWN_RULES, {}).get(FOLDERS, ()))
        settled, general = divide(configuration)
        Configuration(settled, (*RULES, *general.own))
    except ConfigurationError as error:
        raise ConfigurationError(f"{file}: {error}") from None
    return configuration


def _read(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"cannot be read as JSON: {error}") from None
    if not isinstance(content, dict):
        raise ConfigurationError("must be an object whose keys are names of rules")
    return content


def _level(name: str, value: Any) -> Severity | None:
    if not isinstance(value, str) or value not in _LEVELS:
        raise ConfigurationError(f"{name}.{LEVEL}: {value!r} is not one of {', '.join(_LEVELS)}")
    return _LEVELS[value]


def _parameters(rule: AnyRule, fields: Mapping[str, Any]) -> Any:
    try:
        return rule.parameters.model_validate(fields)
    except ValidationError as error:
        parameters = ", ".join(rule.parameters.model_fields) or "none"
        lines = (
            f"{rule.name}.{'.'.join(map(str, fault['loc']))}: {field_errors.problem(fault)} (value: {fault['input']!r})"
            f"{field_errors.remedy(fault)}; parameters: {parameters}"
            for fault in error.errors()
        )
        raise ConfigurationError("\n".join(lines)) from None
