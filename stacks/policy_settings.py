"""What a stack sets for the policies, and its rules of its own."""

from typing import Annotated, Any

from pydantic import AfterValidator

RULES = "rules"
"""Where the folders of a stack's own rules are, among what is set by rule."""


def _policies(policies: dict[str, dict[str, Any] | tuple[str, ...]]) -> dict[str, dict[str, Any] | tuple[str, ...]]:
    for name, given in policies.items():
        if name == RULES and not isinstance(given, tuple):
            raise ValueError(f"{RULES}: is no list of folders; write e.g. [rules]")
        if name != RULES and isinstance(given, tuple):
            raise ValueError(f"{name}: is a list; write the rule's parameters, e.g. {{enforcementLevel: advisory}}")
    return policies


Policies = Annotated[dict[str, dict[str, Any] | tuple[str, ...]], AfterValidator(_policies)]
"""Parameters by rule, and under `rules` the folders of the stack's own."""


def folders(policies: Policies) -> tuple[str, ...]:
    """Return the folders of the stack's own rules."""
    given = policies.get(RULES, ())
    return given if isinstance(given, tuple) else ()


def parameters(policies: Policies) -> dict[str, dict[str, Any]]:
    """Return what is set by rule."""
    return {name: given for name, given in policies.items() if isinstance(given, dict)}
