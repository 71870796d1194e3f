"""Which objects of a stack are on the cluster already, and what it would mean to take each over."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from core.apis import field_owners, fields, kinds
from core.wording import plural, some
from policies.manifests.values import read
from stacks.layers.adoption import without_labels
from toolkit.cli.shared import metadata, recorded_inputs
from toolkit.cli.shared.checkpoints.objects import Live
from toolkit.cli.shared.cluster_client import RefusedError
from toolkit.cli.shared.recorded_inputs import Trial
from toolkit.cli.state.adopt.declared import Declared, StateResources
from toolkit.engine.prediction.diff import Change, Difference, difference, path_of_text, text_of_path
from toolkit.engine.prediction.inputs import ObjectType, field_manager
from toolkit.engine.prediction.readiness import job
from toolkit.engine.prediction.values import MISSING, Path, prune, with_dashes

_MUTABLE = frozenset({"Secret", "ConfigMap"})
"""Kinds whose data the stack's provider changes in place (stacks/environment.py)."""
_SECRET = "Secret"  # noqa: S105 - a kind
_OWN = frozenset({_SECRET, kinds.CUSTOM_RESOURCE_DEFINITION.kind, *kinds.JOBS})
"""Kinds of which only the metadata stays as it is."""
_HINT = "pulumi.com/"
_REPLACE_UNREADY = "pulumi.com/replaceUnready"


class State(StrEnum):
    """What adopting an object would mean."""

    EQUAL = "equal"
    DIFFERS = "differs"
    REPLACED = "would be replaced"
    REFUSED = "cannot be adopted"


@dataclass(frozen=True)
class Candidate:
    """One object that is declared, on the cluster, and not in the state."""

    declared: Declared
    live: Mapping[str, Any]
    state: State
    why: str = ""
    written: Mapping[str, Any] = field(default_factory=dict)
    """Its inputs as if a program had made it as it is."""
    desired: Mapping[str, Any] = field(default_factory=dict)
    """What the program declares once it is adopted, with the existing values in place of secrets."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Merge patch from what is declared now to `desired`, for the settings: the object stays as it is."""
    hints: Mapping[str, Any] = field(default_factory=dict)
    """Merge patch with the annotations for the provider, which the next update of the object writes."""
    differences: tuple[Change, ...] = ()
    """From the object to what is declared now."""
    changes: tuple[Change, ...] = ()
    """From the object to `desired`: what the next update changes."""
    warnings: tuple[str, ...] = ()

    @property
    def adoptable(self) -> bool:
        """Whether it can be adopted."""
        return self.state in (State.EQUAL, State.DIFFERS)

    @property
    def identifier(self) -> str:
        """Return what a provider finds it by."""
        return "/".join(part for part in (self.declared.namespace, self.declared.name) if part)

    def before(self, path: Path) -> Any:
        """Return what is at a path now; None where nothing is."""
        return read(prune(self.live, self.written), *path)


def search(objects: Collection[Declared], recorded: StateResources, live: Live, trial: Trial) -> list[Candidate]:
    """Return the candidates among declared objects: those that the state does not know, and the cluster does."""
    candidates = []
    for obj in (declared_object for declared_object in objects if recorded.find(declared_object) is None):
        try:
            live_object = live(obj.api_version, obj.kind, obj.namespace, obj.name)
        except RefusedError as refused:
            candidates.append(Candidate(obj, {}, State.REFUSED, f"the cluster does not show it: {refused.reason}"))
            continue
        if live_object is not None:
            candidates.append(judged(obj, live_object, trial))
    return candidates


def judged(obj: Declared, live: Mapping[str, Any], trial: Trial) -> Candidate:
    """Return what adopting an object would mean.

    An adopted object stays as it is: what differs from the program, and what a user wrote and no one declares, which
    an update would remove, goes into the settings. A job, and the definition of a kind, are the program's: only their
    metadata stays.
    """
    if read(live, "metadata", "deletionTimestamp"):
        return Candidate(obj, live, State.REFUSED, "it is being deleted")
    declared = _declared(obj, live)
    manager = field_manager(obj.urn, declared, {})
    warnings = tuple(metadata.other_owners(live, manager))
    hints = _hints(declared)
    written = fields.merged(_written(obj, live, declared, trial), hints)
    patch = fields.between(declared, written)
    extra = {key: part for key, part in patch.items() if key == "metadata" or obj.kind not in _OWN}
    desired = fields.merged(declared, extra)
    recorded = fields.merged(live, hints)
    differences, left = (_difference(obj, written, recorded, version) for version in (declared, desired))
    state, why = _state(obj, live, left)
    if state is State.EQUAL and extra:
        state, why = State.DIFFERS, f"{plural(len(differences.changes), 'field')}, kept"
    return Candidate(obj, live, state, why, written, desired, extra, hints, differences.changes, left.changes, warnings)


def _declared(obj: Declared, live: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object as the program declares it once it is adopted, with the existing values in place of secrets."""
    inputs = {"apiVersion": obj.api_version, "kind": obj.kind, **obj.item.inputs}
    inputs.pop("status", None)
    if obj.kind not in kinds.JOBS:
        inputs = fields.merged(inputs, without_labels(inputs))
    declared: dict[str, Any] = with_dashes(recorded_inputs.without_secrets(inputs, live))
    return declared


def _written(obj: Declared, live: Mapping[str, Any], declared: Mapping[str, Any], trial: Trial) -> dict[str, Any]:
    """Return the inputs of an object as if a program had made it as it is.

    Of what a user wrote and no one declares, only the server knows what it would fill in again: it is queried. Where
    it does not answer, all of it counts.
    """
    mine = field_owners.owned(live)
    if obj.kind == _SECRET:
        return recorded_inputs.inputs(live, declared, recorded_inputs.owned_metadata(mine), {})
    as_it_is = recorded_inputs.inputs(live, declared, {}, {})
    return recorded_inputs.inputs(live, declared, mine, _after_update(live, as_it_is, mine, trial))


def _hints(declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the patch with the annotations that are for the provider: they count as if the object had them."""
    annotations = read(declared, "metadata", "annotations") or {}
    hints = {key: text for key, text in annotations.items() if key.startswith(_HINT)}
    return {"metadata": {"annotations": hints}} if hints else {}


def _after_update(
    live: Mapping[str, Any], desired: Mapping[str, Any], mine: Mapping[str, Any], trial: Trial
) -> Mapping[str, Any]:
    """Return the object after an update that takes away what a user wrote and no one declares.

    What cannot go (a claim's selector, a required field) is gone all the same: it has to be declared.
    """
    bodies = [recorded_inputs.updated(live, desired, part) for part in (mine, recorded_inputs.owned_metadata(mine))]
    if bodies[0] == recorded_inputs.updated(live, desired, {}):
        return live
    for number, body in enumerate(bodies):
        try:
            after = trial(body) or {}
        except RefusedError:
            continue
        return after if number == 0 else {"metadata": after.get("metadata", {})}
    return {}


def _difference(
    obj: Declared, inputs: Mapping[str, Any], live: Mapping[str, Any], desired: Mapping[str, Any]
) -> Difference:
    """Return what the provider will find when it compares the program with the completed state."""
    group, _, version = obj.api_version.rpartition("/")
    return difference(
        dict(inputs),
        {key: value for key, value in live.items() if key != "status"},
        dict(desired),
        ObjectType(group, version, obj.kind),
        mutable_kinds=_MUTABLE,
        ignored=tuple(path_of_text(text) for text in obj.item.ignore_changes),
    )


def _state(obj: Declared, live: Mapping[str, Any], left: Difference) -> tuple[State, str]:
    forced = [path_of_text(text) for text in obj.item.replace_on_changes]
    paths = [
        text_of_path(change.path)
        for change in left.changes
        if change.replaces or any(change.path[: len(path)] == path for path in forced)
    ]
    if paths:
        return State.REPLACED, f"{some(paths, 1)} cannot change in place"
    unready = read(obj.item.inputs, "metadata", "annotations", _REPLACE_UNREADY) == "true"
    if unready and obj.kind == "Job" and not job(dict(live)).ready:
        return State.REPLACED, "it is not complete, and the stack replaces such jobs"
    if obj.kind == _SECRET:
        return (State.DIFFERS if left.changes else State.EQUAL), "its values are neither compared nor shown"
    number = len(left.changes)
    return (State.DIFFERS, plural(number, "field")) if number else (State.EQUAL, "")


def is_gone(change: Change) -> bool:
    """Whether a change takes a field away."""
    return change.new is MISSING
