"""Status conditions and times, as objects hold them."""

from collections.abc import Mapping
from datetime import UTC, datetime

from simulator.actors.api import Object


def now() -> str:
    """Return the time in the form of the API."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def updated(obj: Object, **wanted: tuple[bool, str]) -> list[Object]:
    """Return an object's conditions with those of `wanted` (type -> truth and reason) set, in a stable order.

    A condition keeps its time while it stays as it is, so that an unchanged status is equal to itself.
    """
    have = {one["type"]: one for one in (obj.get("status") or {}).get("conditions") or []}
    for kind, (truth, reason) in wanted.items():
        status = "True" if truth else "False"
        old = have.get(kind)
        if not old or (old["status"], old.get("reason")) != (status, reason):
            have[kind] = {
                "type": kind,
                "status": status,
                "reason": reason,
                "message": "",
                "lastTransitionTime": now(),
            }
    return [have[kind] for kind in sorted(have)]


def same_status(obj: Object, status: Object) -> bool:
    """Return whether an object's status has these fields already."""
    have = obj.get("status") or {}
    return all(have.get(name) == value for name, value in status.items())


def stated(obj: Object, wanted: Mapping[str, tuple[str, str, str]]) -> list[Object]:
    """Return an object's conditions with those of `wanted` (type -> status, reason, message) set, in a stable order.

    Like `updated`, for conditions that say something, or are Unknown.
    """
    have = {one["type"]: one for one in (obj.get("status") or {}).get("conditions") or []}
    for kind, (status, reason, message) in wanted.items():
        old = have.get(kind)
        if not old or (old["status"], old.get("reason"), old.get("message")) != (status, reason, message):
            since = old["lastTransitionTime"] if old and old["status"] == status else now()
            have[kind] = {
                "type": kind,
                "status": status,
                "reason": reason,
                "message": message,
                "lastTransitionTime": since,
            }
    return [have[kind] for kind in sorted(have)]
