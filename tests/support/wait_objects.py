"""Objects around one that is waited for, in the shape of the field's operators, and a way to list them."""

from collections.abc import Sequence
from typing import Any

from core.apis.kinds import Kind
from toolkit.cli.up.waits.verdict import Look, Object

Manifest = dict[str, Any]


def look(*groups: tuple[Kind, Sequence[Object]]) -> Look:
    """Return how these objects are listed; a namespace lists its own alone."""

    def listed(kind: Kind, namespace: str = "") -> list[Object]:
        every = [obj for group_kind, objects in groups if group_kind == kind for obj in objects]
        return [obj for obj in every if not namespace or obj["metadata"].get("namespace") == namespace]

    return listed


NOTHING = look()


def meta(name: str, namespace: str = "ns", *, owner: str = "", **more: Any) -> Manifest:
    """Return the metadata of an object with a UID of its own; `owner` is the UID of another one."""
    owners = {"ownerReferences": [{"uid": owner, "name": owner.removesuffix("-uid")}]} if owner else {}
    inside = {"namespace": namespace} if namespace else {}
    return {"name": name, **inside, "uid": f"{name}-uid", **owners, **more}


def condition(kind: str, status: str = "True", reason: str = "", message: str = "", **more: Any) -> Manifest:
    """Return a status condition."""
    return {"type": kind, "status": status, "reason": reason, "message": message, **more}


def pod(name: str, *containers: Manifest, owner: str = "", phase: str = "Pending", **more: Any) -> Manifest:
    """Return a pod with the statuses of its containers."""
    images = [
        {"name": container["name"], "image": container.get("image", "registry/image:1")} for container in containers
    ]
    return {
        "metadata": meta(name, owner=owner, **more),
        "spec": {"containers": images},
        "status": {"phase": phase, "containerStatuses": list(containers)},
    }


def waits(reason: str, message: str = "", **more: Any) -> Manifest:
    """Return the status of a container that waits."""
    state = {"waiting": {"reason": reason, **({"message": message} if message else {})}}
    return {"name": "main", "ready": False, "restartCount": 0, "state": state, **more}


def ended(code: int, restarts: int, message: str = "", *, back_off: bool = True) -> Manifest:
    """Return the status of a container that ended before, and waits to be started again or has been."""
    end = {"terminated": {"exitCode": code, "reason": "Error", "message": message}}
    state = {"waiting": {"reason": "CrashLoopBackOff"}} if back_off else {"running": {"startedAt": "now"}}
    return {"name": "main", "ready": False, "restartCount": restarts, "state": state, "lastState": end}


def event(about: str, reason: str, message: str, when: str = "2026-11-22T10:00:00Z", kind: str = "Pod") -> Manifest:
    """Return an event about the object of a name."""
    return {
        "metadata": meta(f"{about}.{when}"),
        "involvedObject": {"kind": kind, "name": about, "namespace": "ns", "uid": f"{about}-uid"},
        "type": "Warning",
        "reason": reason,
        "message": message,
        "lastTimestamp": when,
    }
