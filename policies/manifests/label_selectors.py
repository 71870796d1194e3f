"""Label selectors of Kubernetes, over plain trees; what is malformed selects nothing."""

from collections.abc import Mapping

from policies.manifests.values import Tree, read

_EVERY: Mapping[str, str] = {}


def is_empty(selector: Tree) -> bool:
    """Return whether a selector has no condition, and so selects everything."""
    return isinstance(selector, Mapping) and not any(selector.values())


def selects(selector: Tree, labels: Mapping[str, object]) -> bool:
    """Return whether labels fit `matchLabels` and `matchExpressions`."""
    if not isinstance(selector, Mapping):
        return False
    match_labels, expressions = selector.get("matchLabels") or _EVERY, selector.get("matchExpressions") or []
    if not isinstance(match_labels, Mapping) or not isinstance(expressions, list):
        return False
    return match_labels.items() <= labels.items() and all(_fits(expression, labels) for expression in expressions)


def selects_some(selector: Tree, labels: Mapping[str, object]) -> bool:
    """Return the same of a selector that selects nothing while it is empty, as those of machine config pools."""
    return not is_empty(selector) and selects(selector, labels)


def _fits(expression: Tree, labels: Mapping[str, object]) -> bool:
    key, operator, values = (read(expression, field) for field in ("key", "operator", "values"))
    if not isinstance(key, str):
        return False
    value, listed = labels.get(key), values if isinstance(values, list) else []
    matches = {
        "In": value in listed,
        "NotIn": value not in listed,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }
    return isinstance(operator, str) and matches.get(operator, False)
