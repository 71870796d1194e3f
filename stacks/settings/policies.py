"""What a stack sets for the policies, and its rules of its own."""

from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BeforeValidator

RULES = "rules"
"""Where the folders of a stack's own rules are, among what is set by rule."""
_LEVEL = "enforcementLevel"
_Policy: TypeAlias = dict[str, Any] | tuple[str, ...]


def _policy(value: Any) -> Any:
    """Return parameters or folders; a text is the level alone."""
    if isinstance(value, str):
        return {_LEVEL: value}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return value
    if isinstance(value, list | tuple) and all(isinstance(folder, str) for folder in value):
        return tuple(value)
    raise ValueError("is neither parameters nor a level; write e.g. {enforcementLevel: advisory}, or disabled")


def _policies(policies: dict[str, _Policy]) -> dict[str, _Policy]:
    for name, value in policies.items():
        if name == RULES and not isinstance(value, tuple):
            raise ValueError(f"{RULES}: is no list of folders; write e.g. [rules]")
        if name != RULES and isinstance(value, tuple):
            raise ValueError(f"{name}: is a list; write the rule's parameters, e.g. {{enforcementLevel: advisory}}")
    return policies


Policies = Annotated[
    dict[str, Annotated[_Policy, BeforeValidator(_policy, json_schema_input_type=_Policy | str)]],
    AfterValidator(_policies),
]
"""Parameters by rule, or its level alone, and under `rules` the folders of the stack's own."""


def folders(policies: Policies) -> tuple[str, ...]:
    """Return the folders of the stack's own rules."""
    value = policies.get(RULES, ())
    return value if isinstance(value, tuple) else ()


def parameters(policies: Policies) -> dict[str, dict[str, Any]]:
    """Return what is set by rule."""
    return {name: value for name, value in policies.items() if isinstance(value, dict)}
