"""A review, indexed for the subjects: objects before and after by kind, as policies see them."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from core.apis.kinds import Kind
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.values import Path, Unknown
from policies.scc import Release
from toolkit.review import paths
from toolkit.review.cluster_facts import Facts
from toolkit.review.model import UNKNOWN, Change, Resource, Review
from toolkit.review.sentences import participle

_FIRST_WITH_V2 = (4, 11)
"""The release since which new clusters let everybody use restricted-v2 instead of restricted."""


class Side:
    """The objects as they were, or as they will be; patches only add to objects of others and are not among them."""

    def __init__(self, resources: Iterable[Resource], view: Callable[[Resource], Obj]) -> None:
        self._view = view
        self.objects: list[Resource] = []
        self._of: dict[tuple[str, str], list[Resource]] = defaultdict(list)
        self.components: dict[str, list[Resource]] = defaultdict(list)
        for resource in resources:
            if resource.is_object and not resource.is_patch:
                self.objects.append(resource)
                self._of[group(resource), resource.kind].append(resource)
            elif resource.type.startswith("hpc:"):
                self.components[resource.type].append(resource)

    def of(self, *kinds: Kind) -> list[Resource]:
        """Return the objects of some kinds, in any of their versions."""
        return [resource for kind in kinds for resource in self._of.get((kind.group, kind.kind), ())]

    def inventory(self, *kinds: Kind) -> Inventory:
        """Return the objects of some kinds as policies see them."""
        return Inventory(map(self._view, self.of(*kinds)))


@dataclass(frozen=True)
class IndexedReview:
    """A review with both of its sides; each object is converted to what policies see once, for all subjects."""

    review: Review

    def participle(self, change: Change) -> str:
        """Return the participle of what is done to an object: created, replaced, ..."""
        return participle(change.op, drift=self.review.drift)

    def run_change(self, change: Change) -> str:
        """Return the number by which a job runs again, e.g. `run 1 to 2`; empty where it does so for another reason."""
        parent = self._by_urn.get(change.resource.parent)
        if parent is None or parent.before is None or parent.after is None:
            return ""
        before, after = (side.inputs.get("run") for side in (parent.before, parent.after))
        return f"run {before} to {after}" if isinstance(after, int) and before != after else ""

    def arguments(self, change: Change) -> list[str]:
        """Return the paths of the arguments that change in the component that declares an object."""
        parent = self._by_urn.get(change.resource.parent)
        if parent is None or parent.before is None or parent.after is None:
            return []
        return [paths.show(path) for path in paths.differing(parent.before.inputs, parent.after.inputs)]

    @cached_property
    def _by_urn(self) -> Mapping[str, Change]:
        return {change.resource.urn: change for change in self.review.changes}

    def view(self, resource: Resource) -> Obj:
        """Return an object as policies see it, with its unknown values."""
        view = self._views.get(id(resource))
        if view is None:
            view = self._views[id(resource)] = _view(resource)
        return view

    @cached_property
    def _views(self) -> dict[int, Obj]:
        return {}

    @property
    def facts(self) -> Facts:
        """Facts of the settings."""
        return self.review.facts

    @cached_property
    def before(self) -> Side:
        """The objects as they were."""
        resources = (change.before for change in self.review.changes)
        return Side((resource for resource in resources if resource), self.view)

    @cached_property
    def after(self) -> Side:
        """The objects as they will be."""
        resources = (change.after for change in self.review.changes)
        return Side((resource for resource in resources if resource), self.view)

    @property
    def release(self) -> Release:
        """The SCCs that OpenShift has of itself."""
        numbers = self.facts.release.split(".")
        if len(numbers) > 1 and numbers[0].isdecimal() and numbers[1].isdecimal():
            return "current" if (int(numbers[0]), int(numbers[1])) >= _FIRST_WITH_V2 else "4.4"
        return "current"

    def changed(self, *kinds: Kind) -> list[Change]:
        """Return the changes of objects of some kinds, without patches."""
        return [change for kind in kinds for change in self._changed.get((kind.group, kind.kind), ())]

    @cached_property
    def _changed(self) -> dict[tuple[str, str], list[Change]]:
        changes: dict[tuple[str, str], list[Change]] = defaultdict(list)
        for change in self.review.changed:
            resource = change.resource
            if resource.is_object and not resource.is_patch:
                changes[group(resource), resource.kind].append(change)
        return changes


def group(resource: Resource) -> str:
    """Return the API group of an object; empty for the core API's."""
    return resource.api_version.rpartition("/")[0]


def _view(resource: Resource) -> Obj:
    unknown: list[Unknown] = []
    tree = resource.manifest
    if _has_unknown(tree):
        tree = _marked(tree, (), unknown)
    return Obj(tree, resource.urn, partial=resource.is_patch, unknown=tuple(unknown))


def _has_unknown(tree: Any) -> bool:
    waiting = [tree]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            if value == UNKNOWN:
                return True
        elif isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return False


def _marked(tree: Any, path: Path, unknown: list[Unknown]) -> Any:
    if tree == UNKNOWN:
        unknown.append(Unknown(path))
        return unknown[-1]
    if isinstance(tree, Mapping):
        return {key: _marked(value, (*path, key), unknown) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_marked(value, (*path, index), unknown) for index, value in enumerate(tree)]
    return tree
