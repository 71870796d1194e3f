"""From the events of a refresh to a review of what drifted: `before` is what is declared, `after` what is there."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from apis import kinds
from review import events, live, paths, wire
from review.model import Change, Op, Resource, Review
from review.titles import path as name

_AWAITED = (kinds.CLUSTER_SERVICE_VERSION.kind, kinds.MACHINE_CONFIG_POOL.kind)
"""Patches of these kinds only wait for objects of other owners, who may take them away (an operator's upgrade)."""
_JOBS = (kinds.JOB.kind, "MPIJob")
_REMARK = (
    "{} {} has ended and is not on the cluster any more; another number of its `run` makes it run again, nothing else"
)
_ENDS = ("Complete", "Failed", "Succeeded")
_TEXTS = ("data", "stringData")


def read(log: Iterable[Mapping[str, Any]], stack: str, *, trouble: str = "") -> Review:
    """Return the review of a refresh that was previewed.

    Drift is a declared field with another value, an entry that somebody added to a declared list, an object that is
    gone; not what the server or an operator fills in beside. Whether the value of a secret is another one only the
    provider can tell, and is believed.
    """
    log = list(log)
    said = events.read((event for event in log if not _is_step(event)), stack, trouble=trouble)
    ended = {event["resOutputsEvent"]["metadata"]["urn"]: event for event in log if "resOutputsEvent" in event}
    steps = [event["resOutputsEvent"]["metadata"] for _, event in sorted(ended.items())]
    changes = tuple(change for step in steps if (change := _change(step)) is not None)
    gone = {step["urn"] for step in steps if _is_gone(step)}
    jobs = (each.resource for each in changes if each.resource.urn in gone and _is_job(each))
    remarks = (_REMARK.format(job.kind, name(job)) for job in jobs)
    return replace(said, drift=True, changes=changes, warnings=tuple(sorted({*said.warnings, *remarks})))


def _is_step(event: Mapping[str, Any]) -> bool:
    return "resourcePreEvent" in event or "resOutputsEvent" in event


def _change(step: Mapping[str, Any]) -> Change | None:
    if not step.get("old"):
        return None
    before = wire.resource(step["old"])
    if not before.is_object or step["old"].get("external"):
        return Change(Op.SAME, before, before)
    if _is_gone(step):
        return Change(Op.SAME, before, before) if _may_go(before) else Change(Op.DELETE, before, None)
    seen = wire.resource(step["new"])
    after = replace(before, inputs=live.as_live(replace(before, live=seen.live)), live=seen.live)
    after = events.marked(before, after, _secret_paths(before, step))
    return Change(Op.SAME if after.inputs == before.inputs else Op.UPDATE, before, after)


def _is_gone(step: Mapping[str, Any]) -> bool:
    return step.get("op") == "delete" or not step.get("new")


def _is_job(change: Change) -> bool:
    """Whether a change is of a job that has ended, and was not declared to go then."""
    return change.op is Op.SAME and change.resource.kind in _JOBS and not _goes(change.resource)


def _secret_paths(resource: Resource, step: Mapping[str, Any]) -> list[str]:
    """Return the paths into a Secret that the provider says differ; another type or label is compared here.

    It may name the cluster's field, `data`, where `stringData` is declared.
    """
    if resource.kind != kinds.SECRET.kind:
        return []
    found = (paths.read(path) for path in events.differences([step]))
    declared = [text for text in _TEXTS if text in resource.inputs]
    return [
        paths.show((text, *path[1:]))
        for path in found
        if path[:1] and path[0] in _TEXTS
        for text in ([path[0]] if path[0] in declared else declared)
    ]


def _may_go(resource: Resource) -> bool:
    """Whether an object that is gone is not missing: one that only waited, or a job that ended.

    A job that somebody cleaned away has done its work; what runs it again is another number of its run.
    """
    if resource.is_patch:
        return resource.kind in _AWAITED
    return resource.kind in _JOBS and _ended(resource)


def _goes(resource: Resource) -> bool:
    """Whether a job was declared to go by itself when it has ended."""
    spec = resource.inputs.get("spec")
    policy = spec.get("runPolicy") if isinstance(spec, Mapping) else None
    return any(isinstance(each, Mapping) and each.get("ttlSecondsAfterFinished") is not None for each in (spec, policy))


def _ended(resource: Resource) -> bool:
    """Whether the state saw the job's end, or never waited for it."""
    status = resource.live.get("status")
    conditions = status.get("conditions") if isinstance(status, Mapping) else None
    if not isinstance(conditions, list) or not conditions:
        return True
    return any(
        isinstance(each, Mapping) and each.get("type") in _ENDS and each.get("status") == "True" for each in conditions
    )
