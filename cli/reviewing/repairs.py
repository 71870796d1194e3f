"""Making the next update put right what drifted.

An update compares the program with the state, not with the cluster. So what is gone leaves the state first, as a
refresh has it, and is created again. What has other values is marked as not confirmed, which makes the update apply it
again: a refresh would not do, because to the provider an entry that somebody added to a list is no difference.

A mark that the update cannot follow would stop every later one. So the server is asked first whether it takes the
object as declared, and a mark that no update has followed is taken out again.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cli import checkpoints
from cli.checkpoints import Document
from cli.console import console, errors
from cli.engine import Engine
from cli.live import Cluster, RefusedError
from cli.reviewing import asking
from cli.stack import Stack
from review import live
from review.model import Change, Op, Resource
from review.titles import path

UNCONFIRMED = "the cluster had it otherwise than declared"
_INVALID = "422, "
_REMEDY = (
    "it was probably made anew by somebody. Delete it, where nothing is lost with it, and run this again, which makes "
    "it as declared; or let the settings say what it is"
)


@dataclass(frozen=True)
class Answer:
    """What a server says of an object that it is to have as declared again."""

    refused: str = ""
    """Why it does not take it; empty where it does, or does not say."""
    gone: bool = False
    """Whether it is not there any more."""
    body: Mapping[str, Any] | None = None
    """The whole object, where an update would leave what others have added."""


def mark(wanted: Stack, running: Engine, cluster: Cluster) -> None:
    """Write into the state what drifted and is to be put right; tell what cannot be, or is not known.

    Nothing is written of what the server would not take: that stays as it is.
    """
    if wanted.backend is not None and not wanted.backend.checkpoint(wanted.name).get("resources"):
        return
    found = asking.drift(wanted, running)
    if found.failed:
        errors.print(f"warning: what drifted cannot be told of everything: {found.failed}", markup=False)
    for remark in found.warnings:
        errors.print(f"warning: {remark}", markup=False)
    again = []
    for change in found.changed:
        name = f"{change.resource.kind} {path(change.resource)}"
        console.print(f"drift: {name} {'is gone' if change.op is Op.DELETE else 'is not as declared'}", markup=False)
        if change.op is Op.DELETE:
            continue
        if change.before and (refused := _mended(change.before, cluster)):
            errors.print(f"warning: {name} stays as it is, the API server refuses: {refused}; {_REMEDY}", markup=False)
        else:
            again.append(change.resource.urn)
    _forget(running, found.changed)
    if again:
        checkpoints.edit(running, wanted.backend, lambda document: marked(document, again))


def clear(wanted: Stack, running: Engine) -> None:
    """Take marks out of the state that no update has followed, if there are any."""
    if wanted.backend is None or _is_marked(wanted.backend.checkpoint(wanted.name)):
        checkpoints.edit(running, wanted.backend, unmarked)


def marked(document: Document, urns: Collection[str]) -> Document:
    """Return a state in which the next update applies some resources again."""
    for resource in _resources(document):
        if resource["urn"] in urns and not resource.get("delete"):
            resource["initErrors"] = [*_without_mark(resource), UNCONFIRMED]
    return document


def unmarked(document: Document) -> Document | None:
    """Return a state without our marks; None where it has none."""
    found = [resource for resource in _resources(document) if UNCONFIRMED in (resource.get("initErrors") or ())]
    for resource in found:
        if left := _without_mark(resource):
            resource["initErrors"] = left
        else:
            del resource["initErrors"]
    return document if found else None


def asked(resource: Resource, cluster: Cluster) -> Answer:
    """Ask the server, without a change, whether it would take an object as it is declared."""
    if resource.is_patch:
        return Answer()  # of an object of others
    try:
        found = cluster.find(resource.api_version, resource.kind, resource.namespace, resource.object_name)
        if found is None:
            return Answer(gone=True)
        mended = live.mended(resource, found)
        cluster.tried(mended.body)
    except RefusedError as error:
        # Who may not ask may not know either; the update will say.
        return Answer(refused=_short(error.reason) if error.reason.startswith(_INVALID) else "")
    return Answer(body=mended.body if mended.taken else None)


def _mended(resource: Resource, cluster: Cluster) -> str:
    """Take away what others have added and an update would leave; return why the server refuses an object."""
    answer = asked(resource, cluster)
    if answer.body is None or answer.refused:
        return answer.refused
    try:
        cluster.replace(answer.body)
    except RefusedError as error:
        return _short(error.reason)
    return ""


def _short(reason: str) -> str:
    """Return the first line of what a server says, without its number."""
    return reason.partition(", ")[2].splitlines()[0].strip().rstrip(".")


def _forget(running: Engine, changes: Iterable[Change]) -> None:
    gone = [change.resource.urn for change in changes if change.op is Op.DELETE]
    if gone:
        targets = [word for urn in gone for word in ("--target", urn)]
        running.call("refresh", "--yes", "--skip-preview", "--stack", running.stack, *targets)


def _is_marked(deployment: Mapping[str, Any]) -> bool:
    return any(UNCONFIRMED in (each.get("initErrors") or ()) for each in deployment.get("resources") or ())


def _resources(document: Document) -> list[dict[str, Any]]:
    return list((document.get("deployment") or {}).get("resources") or ())


def _without_mark(resource: Mapping[str, Any]) -> list[str]:
    return [each for each in resource.get("initErrors") or () if each != UNCONFIRMED]
