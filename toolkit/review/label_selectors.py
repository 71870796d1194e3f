"""Label selectors of live objects and manifests, applied to labels."""

from collections.abc import Mapping
from typing import Any

from policies.values import entries, mapping, read


def selects(selector: Any, labels: Mapping[str, Any]) -> bool:
    """Whether a selector fits labels; an empty one selects nothing, as those of machine config pools."""
    labels_required, expressions = mapping(selector, "matchLabels"), entries(selector, "matchExpressions")
    if not labels_required and not expressions:
        return False
    equal = all(labels.get(key) == value for key, value in labels_required.items())
    return equal and all(_matches(expression, labels) for expression in expressions)


def _matches(expression: Any, labels: Mapping[str, Any]) -> bool:
    key, operator, values = read(expression, "key"), read(expression, "operator"), entries(expression, "values")
    present = isinstance(key, str) and key in labels
    if operator == "In":
        return present and labels[key] in values
    if operator == "NotIn":
        return not present or labels[key] not in values
    return present if operator == "Exists" else not present
