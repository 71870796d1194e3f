"""Which objects of a stack are on the cluster already, and what it would mean to take each over."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from cli.adopting import owners, written
from cli.adopting.declared import Declared, Known
from cli.live import RefusedError
from policies.values import read
from simulator.plugins.provider.diff import Change, Difference, difference, path_of_text, text_of_path
from simulator.plugins.provider.inputs import ObjectType
from simulator.plugins.provider.readiness import job
from simulator.plugins.provider.shapes import Path, prune
from simulator.plugins.provider.state import field_manager
from simulator.plugins.provider.values import MISSING, with_dashes

Live = Callable[[str, str, str, str], Mapping[str, Any] | None]
"""Given apiVersion, kind, namespace and name: the object on the cluster, or None."""
Trial = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]
"""Given an object: what the cluster would make of it in the place of the one that is there, without doing it."""
_MUTABLE = frozenset({"Secret", "ConfigMap"})
"""Kinds whose data the stack's provider is told to change in place (stacks/environment.py)."""
_SECRET = "Secret"  # noqa: S105 - a kind
_INVALID = "422"
_REPLACE_UNREADY = "pulumi.com/replaceUnready"


class State(StrEnum):
    """What taking an object over would mean."""

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
    """What is declared, with what is there in the place of secrets."""
    changes: tuple[Change, ...] = ()
    warnings: tuple[str, ...] = ()
    kept: Mapping[str, Any] = field(default_factory=dict)
    """Fields that nobody declares, that a person wrote, and that an update cannot take away."""

    @property
    def adoptable(self) -> bool:
        """Whether it can be taken over."""
        return self.state in (State.EQUAL, State.DIFFERS)

    @property
    def identifier(self) -> str:
        """Return what a provider finds it by."""
        return "/".join(part for part in (self.declared.namespace, self.declared.name) if part)

    @property
    def shared(self) -> dict[str, Any]:
        """What is to have an owner beside the person, so that an update leaves it; empty where nothing is."""
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
    """Return what taking an object over would mean.

    An update takes away what a person wrote and nobody declares. What that is, and whether the server allows it, only
    the server knows; it is asked where there will be an update.
    """
    if read(live, "metadata", "deletionTimestamp"):
        return Candidate(one, live, State.REFUSED, "it is being deleted")
    declared = {"apiVersion": one.api_version, "kind": one.kind, **one.item.inputs}
    declared.pop("status", None)
    wanted = with_dashes(written.without_secrets(declared, live))
    manager = field_manager(one.urn, wanted, {})
    warnings = tuple(owners.others(live, manager))
    inputs = written.inputs(live, wanted, {}, {})
    found = _difference(one, inputs, live, wanted)
    state, why = _state(one, live, found)
    if state is not State.DIFFERS or one.kind == _SECRET:
        return Candidate(one, live, state, why, inputs, wanted, found.changes, warnings)
    mine = written.owned(live, manager)
    after, kept, refused = _tried(live, wanted, mine, trial)
    if refused:
        return Candidate(one, live, State.REPLACED, refused, inputs, wanted, found.changes, warnings)
    inputs = written.inputs(live, wanted, mine, after)
    found = _difference(one, inputs, live, wanted)
    state, why = _state(one, live, found)
    if kept:
        why += f"; {', '.join(_leaves(kept))} cannot change, and stays"
    return Candidate(one, live, state, why, inputs, wanted, found.changes, warnings, kept)


def _tried(
    live: Mapping[str, Any], wanted: Mapping[str, Any], mine: Mapping[str, Any], trial: Trial
) -> tuple[Mapping[str, Any], dict[str, Any], str]:
    """Return the object after an update, what of a person's must stay for the server to allow it, and why it does not.

    A server that does not let this person try it is not asked further; the update will say.
    """
    try:
        return trial(written.updated(live, wanted, mine)) or live, {}, ""
    except RefusedError as refused:
        if not refused.reason.startswith(_INVALID):
            return live, {}, ""
        reason = refused.reason
    kept = written.undeclared(live, wanted, mine)
    try:
        after = trial(written.updated(live, wanted, written.owned_metadata(mine))) or live
    except RefusedError:
        return live, {}, _short(reason)
    return after, kept, "" if kept else _short(reason)


def _short(reason: str) -> str:
    """Return the first line of what a server says: the rest compares Go's structures."""
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
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        return State.REPLACED, f"{paths[0]}{more} cannot change in place"
    unready = read(one.item.inputs, "metadata", "annotations", _REPLACE_UNREADY) == "true"
    if unready and one.kind == "Job" and job(dict(live)).state == "failed":
        return State.REPLACED, "it has failed, and the stack makes failed jobs anew"
    if one.kind == _SECRET:
        return (State.DIFFERS if found.changes else State.EQUAL), "its values are neither compared nor shown"
    number = len(found.changes)
    return (State.DIFFERS, f"{number} fields" if number > 1 else "1 field") if number else (State.EQUAL, "")


def is_gone(change: Change) -> bool:
    """Whether a change takes a field away."""
    return change.new is MISSING
