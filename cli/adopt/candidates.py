"""Which objects of a stack are on the cluster already, and what it would mean to take each over."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from apis.wording import plural
from cli.adopt import owners, recorded_inputs
from cli.adopt.declared import Declared, Known
from cli.shared.checkpoints.interrupted import Live
from cli.shared.cluster_client import RefusedError
from cli.shared.text import some
from policies.values import read
from simulator.plugins.provider.diff import Change, Difference, difference, path_of_text, text_of_path
from simulator.plugins.provider.inputs import ObjectType
from simulator.plugins.provider.readiness import job
from simulator.plugins.provider.shapes import Path, prune
from simulator.plugins.provider.state import field_manager
from simulator.plugins.provider.values import MISSING, with_dashes

Trial = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]
"""Given an object: what the cluster would make of it in the place of the one that is there, without doing it."""
_MUTABLE = frozenset({"Secret", "ConfigMap"})
"""Kinds whose data the stack's provider changes in place (stacks/environment.py)."""
_SECRET = "Secret"  # noqa: S105 - a kind
_INVALID = "422"
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
    wanted: Mapping[str, Any] = field(default_factory=dict)
    """What is declared, with the existing values in place of secrets."""
    changes: tuple[Change, ...] = ()
    warnings: tuple[str, ...] = ()
    kept: Mapping[str, Any] = field(default_factory=dict)
    """Fields that no program declares, that a user wrote, and that cannot change: an update would remove them."""

    @property
    def adoptable(self) -> bool:
        """Whether it can be adopted."""
        return self.state in (State.EQUAL, State.DIFFERS)

    @property
    def identifier(self) -> str:
        """Return what a provider finds it by."""
        return "/".join(part for part in (self.declared.namespace, self.declared.name) if part)

    @property
    def ownership(self) -> dict[str, Any]:
        """Return the object that `kubectl apply --server-side` gives a second owner: an update then leaves the fields.

        Empty where nothing prevents it.
        """
        if not self.kept:
            return {}
        keys = ("name", "namespace")
        metadata = {key: self.live["metadata"][key] for key in keys if key in self.live["metadata"]}
        identity = {key: self.live[key] for key in ("apiVersion", "kind")}
        return {**identity, "metadata": metadata, **self.kept}

    def before(self, path: Path) -> Any:
        """Return what is at a path now; None where nothing is."""
        return read(prune(self.live, self.written), *path)


def search(objects: Collection[Declared], known: Known, live: Live, trial: Trial) -> list[Candidate]:
    """Return the candidates among declared objects: those that the state does not know, and the cluster does."""
    found = []
    for one in (each for each in objects if known.find(each) is None):
        try:
            there = live(one.api_version, one.kind, one.namespace, one.name)
        except RefusedError as refused:
            found.append(Candidate(one, {}, State.REFUSED, f"the cluster does not show it: {refused.reason}"))
            continue
        if there is not None:
            found.append(judged(one, there, trial))
    return found


def judged(one: Declared, live: Mapping[str, Any], trial: Trial) -> Candidate:
    """Return what adopting an object would mean.

    An update takes away what a user wrote and no one declares. What that is, and whether the server allows it, only
    the server knows; it is queried where there will be an update.
    """
    if read(live, "metadata", "deletionTimestamp"):
        return Candidate(one, live, State.REFUSED, "it is being deleted")
    declared = {"apiVersion": one.api_version, "kind": one.kind, **one.item.inputs}
    declared.pop("status", None)
    wanted = with_dashes(recorded_inputs.without_secrets(declared, live))
    manager = field_manager(one.urn, wanted, {})
    warnings = tuple(owners.others(live, manager))
    inputs = recorded_inputs.inputs(live, wanted, {}, {})
    found = _difference(one, inputs, live, wanted)
    state, why = _state(one, live, found)
    if state is not State.DIFFERS or one.kind == _SECRET:
        return Candidate(one, live, state, why, inputs, wanted, found.changes, warnings)
    mine = recorded_inputs.owned(live)
    after, kept, refused = _after_update(live, wanted, mine, trial)
    if refused:
        return Candidate(one, live, State.REPLACED, refused, inputs, wanted, found.changes, warnings)
    if kept:
        why = f"{', '.join(_leaves(kept))} is not declared, cannot change, and belongs to the creator of the object"
        return Candidate(one, live, State.REFUSED, why, inputs, wanted, found.changes, warnings, kept)
    inputs = recorded_inputs.inputs(live, wanted, mine, after)
    found = _difference(one, inputs, live, wanted)
    state, why = _state(one, live, found)
    return Candidate(one, live, state, why, inputs, wanted, found.changes, warnings)


def _after_update(
    live: Mapping[str, Any], wanted: Mapping[str, Any], mine: Mapping[str, Any], trial: Trial
) -> tuple[Mapping[str, Any], dict[str, Any], str]:
    """Return the object after an update, which fields of a user stand in its way, and why the server refuses it.

    A server that does not let the user try it is not queried further; the update will show it.
    """
    try:
        return trial(recorded_inputs.updated(live, wanted, mine)) or live, {}, ""
    except RefusedError as refused:
        if not refused.reason.startswith(_INVALID):
            return live, {}, ""
        reason = refused.reason
    kept = recorded_inputs.undeclared(live, wanted, mine)
    try:
        after = trial(recorded_inputs.updated(live, wanted, recorded_inputs.owned_metadata(mine))) or live
    except RefusedError:
        return live, {}, _short(reason)
    return after, kept, "" if kept else _short(reason)


def _short(reason: str) -> str:
    """Return the first line of a server's message: the rest compares Go's structures."""
    return reason.partition(", ")[2].splitlines()[0]


def _leaves(kept: Mapping[str, Any]) -> list[str]:
    return [
        text_of_path((top, key)) for top, inner in kept.items() for key in (inner if isinstance(inner, dict) else ())
    ]


def _difference(
    one: Declared, inputs: Mapping[str, Any], live: Mapping[str, Any], wanted: Mapping[str, Any]
) -> Difference:
    """Return what the provider will find when it compares the program with the completed state."""
    group, _, version = one.api_version.rpartition("/")
    return difference(
        dict(inputs),
        {key: value for key, value in live.items() if key != "status"},
        dict(wanted),
        ObjectType(group, version, one.kind),
        mutable_kinds=_MUTABLE,
        ignored=tuple(path_of_text(text) for text in one.item.ignore_changes),
    )


def _state(one: Declared, live: Mapping[str, Any], found: Difference) -> tuple[State, str]:
    forced = [path_of_text(text) for text in one.item.replace_on_changes]
    paths = [
        text_of_path(change.path)
        for change in found.changes
        if change.replaces or any(change.path[: len(path)] == path for path in forced)
    ]
    if paths:
        return State.REPLACED, f"{some(paths, 1)} cannot change in place"
    unready = read(one.item.inputs, "metadata", "annotations", _REPLACE_UNREADY) == "true"
    if unready and one.kind == "Job" and not job(dict(live)).ready:
        return State.REPLACED, "it is not complete, and the stack replaces such jobs"
    if one.kind == _SECRET:
        return (State.DIFFERS if found.changes else State.EQUAL), "its values are neither compared nor shown"
    number = len(found.changes)
    return (State.DIFFERS, plural(number, "field")) if number else (State.EQUAL, "")


def is_gone(change: Change) -> bool:
    """Whether a change takes a field away."""
    return change.new is MISSING
