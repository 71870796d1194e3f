"""Property values as Python has them, with secrets and unknowns kept; live ones cut to what was set (pure)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Properties = dict[str, Any]

# The typed SDKs cannot spell these keys of CRD schemas with dashes; the API has no other keys like them.
_SCHEMA_KEYS = (
    *("x_kubernetes_embedded_resource", "x_kubernetes_int_or_string", "x_kubernetes_list_map_keys"),
    *("x_kubernetes_list_type", "x_kubernetes_map_type", "x_kubernetes_preserve_unknown_fields"),
    "x_kubernetes_validations",
)
_TO_DASHES = {key: key.replace("_", "-") for key in _SCHEMA_KEYS}
_TO_UNDERSCORES = {dashed: key for key, dashed in _TO_DASHES.items()}
Path = tuple[str | int, ...]


class Unknown:
    """A value that is known only after the update (there is one instance, UNKNOWN)."""

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __deepcopy__(self, memo: object) -> "Unknown":
        return self


UNKNOWN = Unknown()


@dataclass(frozen=True)
class Secret:
    """A value that the engine encrypts in the state and hides in its output."""

    value: Any


class MissingPropertyType:
    """The type of MISSING: no value at all, where None would be a value."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = MissingPropertyType()


def plain(value: Any) -> Any:
    """Return the value without secrets' wrapping; unknowns stay. This is the form that rules and the API see."""
    match value:
        case Secret():
            return plain(value.value)
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case list():
            return [plain(item) for item in value]
        case _:
            return value


def _rename(value: Any, names: Mapping[str, str]) -> Any:
    match value:
        case dict():
            return {names.get(key, key): _rename(item, names) for key, item in value.items()}
        case list():
            return [_rename(item, names) for item in value]
        case Secret():
            return Secret(_rename(value.value, names))
        case _:
            return value


def with_dashes(value: Any) -> Any:
    """`x_kubernetes_...` keys as the API spells them."""
    return _rename(value, _TO_DASHES)


def with_underscores(value: Any) -> Any:
    """`x-kubernetes-...` keys as the typed SDKs spell them; the state has this form."""
    return _rename(value, _TO_UNDERSCORES)


def any_value(value: Any, test: Callable[[Any], bool]) -> bool:
    """Whether the value or one inside it passes the test."""
    if test(value):
        return True
    match value:
        case Secret():
            return any_value(value.value, test)
        case dict():
            return any(any_value(item, test) for item in value.values())
        case list():
            return any(any_value(item, test) for item in value)
        case _:
            return False


def has_unknown(value: Any) -> bool:
    """Whether something in the value is not known yet."""
    return any_value(value, lambda item: isinstance(item, Unknown))


def prune(live: Any, shape: Any) -> Any:
    """Return the live value without what `shape` does not have: the server's defaults and other owners' fields.

    Lists are matched by position and cut to the shape's length (the official provider's rule), so an element that
    another client appended is not drift. Where the two are not of one type, the live value stays as it is.
    """
    if isinstance(live, dict) and isinstance(shape, dict):
        return {key: prune(value, shape[key]) for key, value in live.items() if key in shape}
    if isinstance(live, list) and isinstance(shape, list):
        if not live or not shape:
            return []
        if type(live[0]) is not type(shape[0]):
            return live
        return [prune(value, template) for value, template in zip(live, shape, strict=False)]
    return live
