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

from policies.manifests.values import read
from toolkit.cli.shared.backends.older_states import resources
from toolkit.cli.shared.checkpoints import objects
from toolkit.cli.shared.checkpoints.interrupted import UNCONFIRMED
from toolkit.cli.shared.checkpoints.objects import Live, OtherStacks, find_object, made_by_provider, ours

_OBJECTS = "kubernetes:"
_PATCH = "Patch"
_ENGINE = "pulumi:"
"""Types of the engine's own: the stack, and providers."""
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
    """Not on the cluster any more, or another's: left out; the next update makes them again where they are wanted."""


@dataclass(frozen=True)
class Difference:
    """What a restore changes in the state, by URN."""

    gained: tuple[str, ...]
    lost: tuple[str, ...]
    changed: tuple[str, ...]
    """Other inputs."""
    reported: tuple[str, ...]
    """The same inputs; outputs of the cluster, and their order, differ."""

    @property
    def any(self) -> bool:
        """Whether there is any."""
        return bool(self.gained or self.lost or self.changed or self.reported)


def fit(
    older: Mapping[str, Any], present: Mapping[str, Any], live: Live, others: OtherStacks = objects.NONE
) -> Restored:
    """Return an older deployment, fitted to the cluster; `present` is empty where nothing is known of it.

    What `others` have does not come back: it went to them since (`./hpc state split`), or has only the same name.
    """
    recorded = {resource["urn"]: resource for resource in resources(present) if not resource.get("delete")}
    result: list[dict[str, Any]] = []
    renewed: list[str] = []
    gone: list[str] = []
    for old in resources(older):
        urn, now = old["urn"], recorded.get(old["urn"])
        if old.get("delete"):
            continue  # it was deleted since, or the present state still knows it
        if now is not None and _another(old, now):
            result.append(now)
            renewed.append(urn)
        elif now is None and _is_object(old) and not _is_still_ours(old, live, others):
            gone.append(urn)
        else:
            result.append(_marked(old, now))
    taken = _take(result, recorded, live)
    _take_leaving(result, recorded, present, live)
    kept = _without_empty(result, recorded)
    deployment = {**copy.deepcopy(dict(older)), "resources": _in_order(kept), "pending_operations": []}
    if not deployment.get("secrets_providers") and present.get("secrets_providers"):
        deployment["secrets_providers"] = present["secrets_providers"]
    return Restored(deployment, tuple(taken), tuple(renewed), tuple(gone))


def without(deployment: Mapping[str, Any], others: OtherStacks) -> Restored:
    """Return an older deployment as it was, but for what other stacks have by now: no cluster is queried."""
    gone = {
        resource["urn"] for resource in resources(deployment) if others.have(resource, resource.get("outputs") or {})
    }
    kept = [resource for resource in resources(deployment) if resource["urn"] not in gone]
    if gone:
        kept = _in_order(_without_empty(kept, {}))
    return Restored({**copy.deepcopy(dict(deployment)), "resources": kept, "pending_operations": []}, (), (), (*gone,))


def _marked(old: dict[str, Any], now: Mapping[str, Any] | None) -> dict[str, Any]:
    if now is None or not _is_object(old) or old.get("inputs") == now.get("inputs"):
        return old
    return {**old, "initErrors": [CHANGED]}


def _take(result: list[dict[str, Any]], recorded: Mapping[str, dict[str, Any]], live: Live) -> list[str]:
    """Add what is known of objects on the cluster that are not in a state, and what they need; return their URNs."""
    urns = {resource["urn"] for resource in result}
    taken = [urn for urn, now in recorded.items() if urn not in urns and _exists(now, live)]
    for urn in taken:
        _need(result, recorded[urn], recorded)
        result.append(recorded[urn])
    return taken


def _take_leaving(
    result: list[dict[str, Any]], recorded: Mapping[str, dict[str, Any]], present: Mapping[str, Any], live: Live
) -> None:
    """Add what an update that was interrupted has replaced and not deleted yet: no other state knows it."""
    keys = {(resource["urn"], resource.get("id")) for resource in result}
    for leaving in resources(present):
        if leaving.get("delete") and (leaving["urn"], leaving.get("id")) not in keys:
            if _is_object(leaving) and not _exists(leaving, live):
                continue
            _need(result, leaving, recorded)
            result.append(leaving)


def _need(result: list[dict[str, Any]], resource: Mapping[str, Any], recorded: Mapping[str, dict[str, Any]]) -> None:
    urns = {entry["urn"] for entry in result if not entry.get("delete")}
    for needed in _above(resource, recorded):
        if needed not in urns:
            result.append(recorded[needed])
            urns.add(needed)


def _without_empty(result: list[dict[str, Any]], recorded: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return all but components that nothing is left of: theirs went to another stack, or are gone."""
    filled = {str(resource["parent"]) for resource in result if resource.get("parent")}
    empty = {
        resource["urn"]
        for resource in result
        if not resource.get("custom")
        and not resource["type"].startswith(_ENGINE)
        and resource["urn"] not in filled | set(recorded)
    }
    if not empty:
        return result
    return _without_empty([resource for resource in result if resource["urn"] not in empty], recorded)


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> Difference:
    """Return what changes from one deployment to another."""
    old, new = ({resource["urn"]: resource for resource in resources(state)} for state in (before, after))
    both = [urn for urn in new if urn in old and new[urn] != old[urn]]
    changed = tuple(urn for urn in both if new[urn].get("inputs") != old[urn].get("inputs"))
    return Difference(
        tuple(urn for urn in new if urn not in old),
        tuple(urn for urn in old if urn not in new),
        changed,
        tuple(urn for urn in both if urn not in changed),
    )


def _is_object(resource: Mapping[str, Any]) -> bool:
    kind = str(resource.get("type"))
    named = isinstance(read(resource, "inputs", "metadata", "name"), str)
    return kind.startswith(_OBJECTS) and not kind.endswith(_PATCH) and named


def _uid(resource: Mapping[str, Any]) -> Any:
    return read(resource, "outputs", "metadata", "uid")


def _another(old: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether the two are of different objects or providers, or the older one was not seen to its end."""
    unfinished = old.get("pendingReplacement") or UNCONFIRMED in (old.get("initErrors") or ())
    if unfinished or old.get("id") != now.get("id"):
        return True
    return bool(_uid(old) and _uid(now) and _uid(old) != _uid(now))


def _is_still_ours(old: Mapping[str, Any], live: Live, others: OtherStacks) -> bool:
    """Whether an object that the present state does not know is there, and no other one of the same name."""
    live_object = find_object(old, live)
    if live_object is None or others.have(old, live_object):
        return False
    if _uid(old) is None:  # a create that was under way then
        return ours(old, live_object) and made_by_provider(live_object)
    return bool(_uid(old) == read(live_object, "metadata", "uid"))


def _exists(now: Mapping[str, Any], live: Live) -> bool:
    """Whether the object of a resource is there; of a patch, the one that it adds to."""
    if not str(now.get("type")).startswith(_OBJECTS):
        return False
    live_object = find_object({**now, "type": str(now["type"]).removesuffix(_PATCH)}, live)
    return live_object is not None and _uid(now) in (None, read(live_object, "metadata", "uid"))


def _above(resource: Mapping[str, Any], recorded: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield what must be in the state for a resource to be: its parents and its provider."""
    for needed in (resource.get("parent"), _provider(resource)):
        if needed in recorded and needed != resource["urn"]:
            yield from _above(recorded[str(needed)], recorded)
            yield str(needed)


def _provider(resource: Mapping[str, Any]) -> str:
    return str(resource.get("provider") or "").rpartition("::")[0]


def _in_order(resources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put every resource behind those that it refers to; references to what is not there go."""
    by_urn = {resource["urn"]: resource for resource in resources if not resource.get("delete")}
    result: list[dict[str, Any]] = []
    placed: set[str] = set()
    for first in resources:
        waiting = [(first, False)]  # no recursion: a chain of dependencies can be long
        while waiting:
            resource, ready = waiting.pop()
            urn = resource["urn"]
            if resource.get("delete") or ready:
                result.append(_cleaned(resource, by_urn))
            elif urn not in placed:
                placed.add(urn)
                waiting.append((resource, True))
                waiting += [(by_urn[other], False) for other in _references(resource) if other in by_urn]
    return result


def _references(resource: Mapping[str, Any]) -> Iterator[str]:
    yield from (str(resource.get("parent")), _provider(resource), str(resource.get("deletedWith")))
    yield from resource.get("dependencies") or ()
    for urns in (resource.get("propertyDependencies") or {}).values():
        yield from urns or ()


def _cleaned(resource: Mapping[str, Any], by_urn: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    result = copy.deepcopy(dict(resource))
    if "dependencies" in result:
        result["dependencies"] = [urn for urn in result["dependencies"] or () if urn in by_urn]
    if "propertyDependencies" in result:
        result["propertyDependencies"] = {
            name: [urn for urn in urns or () if urn in by_urn]
            for name, urns in (result["propertyDependencies"] or {}).items()
        }
    if result.get("deletedWith") not in by_urn:
        result.pop("deletedWith", None)
    if (provider := by_urn.get(_provider(result))) is not None:
        result["provider"] = f"{provider['urn']}::{provider['id']}"
    return result
