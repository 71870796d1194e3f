"""From the events of a refresh to a review of what drifted: `before` is what is declared, `after` the live object."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from core.apis import kinds
from policies.manifests import values
from toolkit.review import event_properties, events, live, paths
from toolkit.review.model import Change, Op, Resource, Review, finished
from toolkit.review.sentences import path as name

_AWAITED = (kinds.CLUSTER_SERVICE_VERSION.kind, kinds.IMAGE_STREAM.kind, kinds.MACHINE_CONFIG_POOL.kind)
"""Patches of these kinds only wait for objects of other owners, who may take them away (an operator's upgrade)."""
_NOTE = "{} {} has finished and is not on the cluster any more; only another number of its `run` makes it run again"
_TEXTS = ("data", "stringData")
_STEPS = frozenset({"resourcePreEvent", "resOutputsEvent"})


def read(log: Iterable[Mapping[str, Any]], stack: str, *, trouble: str = "") -> Review:
    """Return the review of a refresh that was previewed.

    Drift is a declared field with another value, an entry that was added to a declared list, an object that is
    gone; not what the server or an operator fills in beside. Only the provider knows whether a secret's value differs.
    """
    log = list(log)
    messages = events.read((event for event in log if _STEPS.isdisjoint(event)), stack, trouble=trouble)
    done = [event["resOutputsEvent"]["metadata"] for event in log if "resOutputsEvent" in event]
    ended = {step["urn"]: step for step in done if not events.is_of_leftover(step)}
    steps = [step for _, step in sorted(ended.items())]
    changes = tuple(change for step in steps if (change := _change(step)) is not None)
    removed = {step["urn"] for step in steps if _is_gone(step)}
    jobs = (change.resource for change in changes if change.resource.urn in removed and _is_job(change))
    notes = (_NOTE.format(job.kind, name(job)) for job in jobs)
    return replace(messages, drift=True, changes=changes, warnings=tuple(sorted({*messages.warnings, *notes})))


def with_live(review: Review, drifted: Review) -> Review:
    """Return the review of a preview with what `drifted` has read from the cluster in place of what the state has."""
    queried = {resource.urn: resource for resource in drifted.objects(after=True) if resource.queried}

    def read_again(change: Change) -> Change:
        if change.before is None or (read_resource := queried.get(change.before.urn)) is None:
            return change
        return replace(change, before=replace(change.before, live=read_resource.live, queried=True))

    return replace(review, changes=tuple(map(read_again, review.changes)))


def _change(step: Mapping[str, Any]) -> Change | None:
    if not step.get("old"):
        return None
    before = event_properties.resource(step["old"])
    if not before.is_object or step["old"].get("external"):
        return Change(Op.SAME, before, before)
    if _is_gone(step):
        return Change(Op.SAME, before, before) if _is_expected_removal(before) else Change(Op.DELETE, before, None)
    state = event_properties.resource(step["new"])
    after = replace(before, inputs=live.as_live(replace(before, live=state.live)), live=state.live, queried=True)
    after = events.marked(before, after, _secret_paths(before, step))
    return Change(Op.SAME if after.inputs == before.inputs else Op.UPDATE, before, after)


def _is_gone(step: Mapping[str, Any]) -> bool:
    return step.get("op") == "delete" or not step.get("new")


def _is_job(change: Change) -> bool:
    """Whether a change is of a job that has ended, and was not declared to go then."""
    return change.op is Op.SAME and change.resource.kind in kinds.JOBS and not _has_ttl(change.resource)


def _secret_paths(resource: Resource, step: Mapping[str, Any]) -> list[str]:
    """Return the paths into a Secret that differ according to the provider; another type or label is compared here.

    It may name the cluster's field, `data`, where `stringData` is declared.
    """
    if resource.kind != kinds.SECRET.kind:
        return []
    differing = (paths.read(path) for path in events.differences([step]))
    declared = [text for text in _TEXTS if text in resource.inputs]
    return [
        paths.show((text, *path[1:]))
        for path in differing
        if path[:1] and path[0] in _TEXTS
        for text in ([path[0]] if path[0] in declared else declared)
    ]


def _is_expected_removal(resource: Resource) -> bool:
    """Whether the removal of an object is no drift: one that only waited, or a job that ended.

    A finished job that was deleted has done its work; another number of its run runs it again.
    """
    if resource.is_patch:
        return resource.kind in _AWAITED
    # The state saw the job's end, or never waited for it.
    ended = not values.entries(resource.live, "status", "conditions") or finished(resource) is True
    return resource.kind in kinds.JOBS and ended


def _has_ttl(resource: Resource) -> bool:
    places = (("spec",), ("spec", "runPolicy"))
    return any(values.read(resource.inputs, *place, "ttlSecondsAfterFinished") is not None for place in places)
