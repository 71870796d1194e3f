"""Why pods do not come: Warning events about an object and what it owns, in few words (pure)."""

import re
from collections.abc import Callable, Mapping
from typing import Any

Object = Mapping[str, Any]
Find = Callable[[Object], Object | None]
"""From a reference (apiVersion, kind, name, uid; a namespace of its own is not needed) to the live object, if any."""
WARNINGS = {"fieldSelector": "type=Warning"}
_DEPTH = 4  # MPIJob, Job, Pod, and one more
_LONGEST = 600  # characters of one cause
_FORBIDDEN = re.compile(r".*? is forbidden: ", re.DOTALL)
_NOT_USABLE = re.compile(r'provider "([^"]+)": Forbidden: not usable by user or serviceaccount(?:, )?')
_PREEMPTION = re.compile(r"\.? (?:no new claims to deallocate, )?preemption: .*", re.DOTALL)


def concerns(event: Object, uid: str, find: Find) -> bool:
    """Return whether an event is about the object with `uid` or one that it owns, and still blocks it."""
    about = event.get("involvedObject") or {}
    return _leads_to(about, uid, find, _DEPTH) and not _is_past(event, find(about) or {})


def _leads_to(reference: Object, uid: str, find: Find, depth: int) -> bool:
    if reference.get("uid") == uid:
        return True
    live = find(reference) if depth else None
    metadata = (live or {}).get("metadata") or {}
    if metadata.get("uid") != reference.get("uid"):
        return False
    return any(_leads_to(owner, uid, find, depth - 1) for owner in metadata.get("ownerReferences") or ())


def _is_past(event: Object, live: Object) -> bool:
    """Whether what the event reports is past: the pod has its node, or all pods are there."""
    spec, status = live.get("spec") or {}, live.get("status") or {}
    if event.get("reason") == "FailedScheduling":
        return bool(spec.get("nodeName"))
    if event.get("reason") == "FailedCreate":
        existing = sum(
            int(status.get(key) or 0) for key in ("replicas", "active", "succeeded", "currentNumberScheduled")
        )
        desired = spec.get("replicas") or spec.get("parallelism") or status.get("desiredNumberScheduled") or 1
        return existing >= int(desired)
    return status.get("phase") == "Succeeded"


def cause(event: Object) -> str:
    """Return the cause without what every such message repeats: `FailedCreate of StatefulSet x: exceeded quota: ...`.

    SCCs that the account may not use are named together, after those that refuse the pod for what it asks.
    """
    about = event.get("involvedObject") or {}
    text = _FORBIDDEN.sub("", str(event.get("message", "")), count=1)
    text = _PREEMPTION.sub("", text)
    if unusable := _NOT_USABLE.findall(text):
        text = _NOT_USABLE.sub("", text).removesuffix(", ]").removesuffix("]").rstrip(", ")
        text = f"{text.removesuffix(' [')}; not usable by its account: {', '.join(unusable)}]"
    text = " ".join(text.split())
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]} ..."
    return f"{event.get('reason')} of {about.get('kind')} {about.get('name')}: {text}"


def latest(event: Object) -> str:
    """Return when an event was last seen, as text that sorts by time."""
    series = event.get("series") or {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return max((str(time) for time in times if time), default="")


def key(event: Object) -> tuple[str, str]:
    """Return what is the same for sixteen pods that wait for the same reason."""
    about = event.get("involvedObject") or {}
    return str(event.get("reason")), cause(event).replace(str(about.get("name")), "")
