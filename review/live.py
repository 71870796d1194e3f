"""What is declared of an object, as the cluster has it: the declared fields with the values that they have there.

The provider's own answer is not enough. It compares lists by position and to the length of the declared ones, so that
a subject which somebody added to a binding is no difference to it.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from apis import kinds
from review.model import REDACTED, UNKNOWN, Resource
from review.paths import Path

_POWERS = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_QUANTITY = re.compile(r"([+-]?[0-9.]+)([KMGTPE]i|[numkMGTPE]|)")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_HINTS = ("pulumi.com/", "kubectl.kubernetes.io/")
"""Annotations that tell a provider how to work; nobody else reads them."""
_NOTHING: tuple[Any, ...] = (None, False, 0, "", [], {})
"""Values that the server drops where a field is optional."""
_SETS = frozenset(
    {"allowedCapabilities", "defaultAddCapabilities", "requiredDropCapabilities", "users", "groups", "volumes"}
    | {"verbs", "resources", "apiGroups", "resourceNames", "accessModes", "targetNamespaces"}
)
"""Lists whose order says nothing."""
_QUANTITIES = frozenset(
    {"requests", "limits", "capacity", "hard", "default", "defaultRequest", "max", "min", "overhead", "storage"}
    | {"sizeLimit", "divisor", "nominalQuota", "borrowingLimit", "lendingLimit"}
)
"""Fields that are a quantity, or a map of some."""
_OWNED: dict[str, tuple[Path, ...]] = {
    "": (("status",), ("apiVersion",), ("kind",), ("metadata", "finalizers")),
    # Kueue holds and lets go.
    kinds.JOB.kind: (("spec", "suspend"),),
    "MPIJob": (("spec", "runPolicy", "suspend"), ("spec", "suspend")),
    # OpenShift adds the pull secrets of its own registry.
    "ServiceAccount": (("secrets",), ("imagePullSecrets",)),
}
"""Fields that others set, by kind; those of every kind under an empty name."""


def as_live(resource: Resource) -> dict[str, Any]:
    """Return the inputs of a resource with the values that its `live` has; equal to the inputs where nothing drifted.

    What the cluster has beside is left out, but for entries of lists: they are one value, which is declared.
    """
    owned = (*_OWNED[""], *_OWNED.get(resource.kind, ()))
    found = _live(dict(resource.inputs), dict(resource.live), (), owned)
    return found if isinstance(found, dict) else {}


def _live(declared: Any, live: Any, path: Path, owned: tuple[Path, ...]) -> Any:
    if path in owned or declared in (UNKNOWN, REDACTED) or live in (UNKNOWN, REDACTED):
        return declared
    if isinstance(declared, Mapping) and isinstance(live, Mapping):
        return _map(declared, live, path, owned)
    if isinstance(declared, list) and isinstance(live, list):
        return _list(declared, live, path, owned)
    return declared if same(declared, live, quantity=not _QUANTITIES.isdisjoint(path)) else live


def _map(declared: Mapping[str, Any], live: Mapping[str, Any], path: Path, owned: tuple[Path, ...]) -> dict[str, Any]:
    result = {}
    for key, value in declared.items():
        own = (*path, key)
        hint = path == ("metadata", "annotations") and key.startswith(_HINTS)
        if key in live and not hint:
            result[key] = _live(value, live[key], own, owned)
        elif hint or own in owned or _nothing(value) or (not path and key == "stringData"):
            result[key] = value
    return result


def _list(declared: list[Any], live: list[Any], path: Path, owned: tuple[Path, ...]) -> list[Any]:
    partners = _partners(declared, live, ordered=not path or path[-1] not in _SETS)
    if partners is None:
        partners = [live[index] if index < len(live) else _nothing for index in range(len(declared))]
    kept = [
        _live(value, partner, (*path, index), owned)
        for index, (value, partner) in enumerate(zip(declared, partners, strict=True))
        if partner is not _nothing
    ]
    matched = [id(partner) for partner in partners]
    return kept + [value for value in live if id(value) not in matched]


def _partners(declared: list[Any], live: list[Any], *, ordered: bool) -> list[Any] | None:
    """Return for each declared entry that of the cluster: by name, or by being equal; None: go by position."""
    if not ordered and all(not isinstance(value, Mapping) for value in declared):
        found = []
        rest = list(live)
        for value in declared:
            index = next((place for place, other in enumerate(rest) if same(value, other)), None)
            found.append(_nothing if index is None else rest.pop(index))
        return found
    named = _by_name(live)
    wanted = _by_name(declared)
    if named is None or wanted is None:
        return None
    return [named.get(name, _nothing) for name in wanted]


def _by_name(entries: list[Any]) -> dict[str, Any] | None:
    if not all(isinstance(entry, Mapping) and isinstance(entry.get("name"), str) for entry in entries):
        return None
    found = {str(entry["name"]): entry for entry in entries}
    return found if len(found) == len(entries) else None


def same(declared: Any, live: Any, *, quantity: bool = False) -> bool:
    """Whether two values mean the same to an API server: nothing as absent, and quantities by what they amount to."""
    if isinstance(declared, bool) or isinstance(live, bool):
        return declared is live
    if declared == live or (_nothing(declared) and _nothing(live)):
        return True
    amount = _amount(declared) if quantity else None
    return amount is not None and amount == _amount(live) and isinstance(live, str)


def _nothing(value: Any) -> bool:
    return any(value is each or (type(value) is type(each) and value == each) for each in _NOTHING)


def _amount(value: Any) -> Decimal | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return Decimal(str(value))
    found = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if found is None or found[1].count(".") > 1 or not any(sign.isdigit() for sign in found[1]):
        return None
    number, unit = Decimal(found[1]), found[2]
    return number * 1024 ** _POWERS[unit] if unit in _POWERS else number.scaleb(_DECIMAL[unit])
