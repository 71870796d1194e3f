"""A state of long ago, made to fit the cluster of today.

An older state alone would do harm: the engine creates what it does not find in its state, which is there already; it
takes for existing what was deleted meanwhile; and it deletes by name what was replaced since. What happened meanwhile
is known from the present state, and from the cluster. So of each resource stays the older state's, unless it is about
another object than the one of today; and where the object was changed since, the next update applies it again, although
settings of that time would find nothing to do.
"""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cli.recovery import UNCONFIRMED, Live, find_object
from policies.values import read

_OBJECTS = "kubernetes:"
CHANGED = "it was changed after the state that was restored; the next update applies it again"
"""With an error of its initialisation the engine updates a resource whether its inputs differ or not."""


@dataclass(frozen=True)
class Restored:
    """A deployment to import, and what was done to the older one for it, by URN."""

    deployment: dict[str, Any]
    taken: tuple[str, ...]
    """On the cluster, and known to the present state only: stay known."""
    renewed: tuple[str, ...]
    """Other objects by now, or not finished then: as the present state has them."""
    gone: tuple[str, ...]
    """Not on the cluster any more: left out, so that the next update makes them again where they are wanted."""


@dataclass(frozen=True)
class Difference:
    """What a restore changes in the state, by URN."""

    gained: tuple[str, ...]
    lost: tuple[str, ...]
    changed: tuple[str, ...]
    """Other inputs."""
    reported: tuple[str, ...]
    """The same inputs, and all that the cluster said of them, or in what order they came, is another."""

    @property
    def any(self) -> bool:
        """Whether there is any."""
        return bool(self.gained or self.lost or self.changed or self.reported)


def fit(wanted: Mapping[str, Any], present: Mapping[str, Any], live: Live) -> Restored:
    """Return an older deployment, fitted to the cluster; `present` is empty where nothing is known of it."""
    known = {resource["urn"]: resource for resource in _resources(present) if not resource.get("delete")}
    leaving = {(resource["urn"], resource.get("id")) for resource in _resources(present) if resource.get("delete")}
    result: list[dict[str, Any]] = []
    renewed: list[str] = []
    gone: list[str] = []
    for old in _resources(wanted):
        urn, now = old["urn"], known.get(old["urn"])
        if old.get("delete"):
            result += [old] if (urn, old.get("id")) in leaving else []
        elif now is not None and _another(old, now):
            result.append(now)
            renewed.append(urn)
        elif now is None and _is_object(old) and find_object(old, live) is None:
            gone.append(urn)
        else:
            result.append(_marked(old, now))
    taken = _take(result, known, live)
    deployment = {**copy.deepcopy(dict(wanted)), "resources": _in_order(result), "pending_operations": []}
    if not deployment.get("secrets_providers") and present.get("secrets_providers"):
        deployment["secrets_providers"] = present["secrets_providers"]
    return Restored(deployment, tuple(taken), tuple(renewed), tuple(gone))


def _marked(old: dict[str, Any], now: Mapping[str, Any] | None) -> dict[str, Any]:
    if now is None or not _is_object(old) or old.get("inputs") == now.get("inputs"):
        return old
    return {**old, "initErrors": [CHANGED]}


def _take(result: list[dict[str, Any]], known: Mapping[str, dict[str, Any]], live: Live) -> list[str]:
    """Add what is known of objects on the cluster that are not in a state, and what they need; return their URNs."""
    there = {resource["urn"] for resource in result}
    taken = [urn for urn, now in known.items() if urn not in there and _is_object(now) and _lives(now, live)]
    for urn in taken:
        for needed in (*_above(urn, known), urn):
            if needed not in there:
                result.append(known[needed])
                there.add(needed)
    return taken


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> Difference:
    """Return what changes from one deployment to another."""
    old, new = ({each["urn"]: each for each in _resources(state)} for state in (before, after))
    both = [urn for urn in new if urn in old and new[urn] != old[urn]]
    changed = tuple(urn for urn in both if new[urn].get("inputs") != old[urn].get("inputs"))
    return Difference(
        tuple(urn for urn in new if urn not in old),
        tuple(urn for urn in old if urn not in new),
        changed,
        tuple(urn for urn in both if urn not in changed),
    )


def _resources(deployment: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(deployment.get("resources") or [])


def _is_object(resource: Mapping[str, Any]) -> bool:
    kind = str(resource.get("type"))
    named = isinstance(read(resource, "inputs", "metadata", "name"), str)
    return kind.startswith(_OBJECTS) and not kind.endswith("Patch") and named


def _uid(resource: Mapping[str, Any]) -> Any:
    return read(resource, "outputs", "metadata", "uid")


def _another(old: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether the two are of different objects or providers, or the older one was not seen to its end."""
    unfinished = old.get("pendingReplacement") or UNCONFIRMED in (old.get("initErrors") or ())
    if unfinished or old.get("id") != now.get("id"):
        return True
    return bool(_uid(old) and _uid(now) and _uid(old) != _uid(now))


def _lives(now: Mapping[str, Any], live: Live) -> bool:
    found = find_object(now, live)
    return found is not None and _uid(now) in (None, read(found, "metadata", "uid"))


def _above(urn: str, known: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield what must be in the state for a resource to be: its parents and its provider."""
    resource = known[urn]
    for needed in (resource.get("parent"), _provider(resource)):
        if needed in known and needed != urn:
            yield from _above(str(needed), known)
            yield str(needed)


def _provider(resource: Mapping[str, Any]) -> str:
    return str(resource.get("provider") or "").rpartition("::")[0]


def _in_order(resources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put every resource behind those that it refers to; references to what is not there go."""
    there = {resource["urn"]: resource for resource in resources if not resource.get("delete")}
    result: list[dict[str, Any]] = []
    placed: set[str] = set()
    for first in resources:
        waiting = [(first, False)]  # no recursion: a chain of dependencies can be long
        while waiting:
            resource, ready = waiting.pop()
            urn = resource["urn"]
            if resource.get("delete") or ready:
                result.append(_cleaned(resource, there))
            elif urn not in placed:
                placed.add(urn)
                waiting.append((resource, True))
                waiting += [(there[other], False) for other in _references(resource) if other in there]
    return result


def _references(resource: Mapping[str, Any]) -> Iterator[str]:
    yield from (str(resource.get("parent")), _provider(resource), str(resource.get("deletedWith")))
    yield from resource.get("dependencies") or ()
    for urns in (resource.get("propertyDependencies") or {}).values():
        yield from urns or ()


def _cleaned(resource: Mapping[str, Any], there: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    result = copy.deepcopy(dict(resource))
    if "dependencies" in result:
        result["dependencies"] = [urn for urn in result["dependencies"] or () if urn in there]
    if "propertyDependencies" in result:
        result["propertyDependencies"] = {
            name: [urn for urn in urns or () if urn in there]
            for name, urns in (result["propertyDependencies"] or {}).items()
        }
    if result.get("deletedWith") not in there:
        result.pop("deletedWith", None)
    if (provider := there.get(_provider(result))) is not None:
        result["provider"] = f"{provider['urn']}::{provider['id']}"
    return result
