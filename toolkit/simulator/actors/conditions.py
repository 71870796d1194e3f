"""Status conditions and times, as objects have them."""

from collections.abc import Mapping
from datetime import UTC, datetime

from toolkit.simulator.actors.api import Object


def now() -> str:
    """Return the time in the form of the API."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def stated(obj: Object, desired: Mapping[str, tuple[str, str, str]]) -> list[Object]:
    """Return an object's conditions with those of `desired` (type -> status, reason, message) set, in a stable order.

    A condition keeps its time while its status is the same, so that an unchanged one is equal to itself.
    """
    have = {condition["type"]: condition for condition in (obj.get("status") or {}).get("conditions") or []}
    for kind, (status, reason, message) in desired.items():
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
