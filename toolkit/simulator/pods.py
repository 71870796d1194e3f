"""Questions about pods, as pure functions."""

from core.apis.client import Object
from toolkit.simulator import names


def basename(image: str) -> str:
    """Return the last part of an image's repository: `mpi-operator` of `host/mpioperator/mpi-operator:tag@digest`."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0]


def image(pod: Object) -> str:
    """Return the image of a pod's first container."""
    return str(pod["spec"]["containers"][0].get("image", ""))


def node_name(pod: Object) -> str:
    """Return the node that a pod is bound to, or an empty string."""
    return str(pod["spec"].get("nodeName") or "")


def annotations(obj: Object) -> dict[str, str]:
    """Return an object's annotations."""
    return obj["metadata"].get("annotations") or {}


def labels(obj: Object) -> dict[str, str]:
    """Return an object's labels."""
    return obj["metadata"].get("labels") or {}


def condition(obj: Object, kind: str) -> bool:
    """Return whether a status condition is True."""
    conditions = (obj.get("status") or {}).get("conditions") or []
    return any(entry["type"] == kind and entry["status"] == "True" for entry in conditions)


def phase(pod: Object) -> str:
    """Return the phase of a pod, a namespace or a ClusterServiceVersion."""
    return str((pod.get("status") or {}).get("phase") or "")


def deleting(obj: Object) -> bool:
    """Return whether an object is being deleted."""
    return "deletionTimestamp" in obj["metadata"]


def runs(pod: Object) -> bool:
    """Return whether a pod's containers run: not waiting for a restart, not ended, not being deleted."""
    return phase(pod) == "Running" and condition(pod, "Ready") and not deleting(pod)


def ended(pod: Object) -> str:
    """Return when a pod that has succeeded or failed ended, as the API server writes times; empty for any other."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    times = [((status.get("state") or {}).get("terminated") or {}).get("finishedAt") or "" for status in statuses]
    return str(max(times, default="")) if phase(pod) in ("Succeeded", "Failed") else ""


def started(pod: Object) -> bool:
    """Return whether a pod's containers run, whether they pass their probes or not yet."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    running = any("running" in (status.get("state") or {}) for status in statuses)
    return running and phase(pod) == "Running" and not deleting(pod)


def accepted(pod: Object) -> bool:
    """Return whether kwok has taken a pod over: before that, an annotation would only make it do so twice."""
    return bool((pod.get("status") or {}).get("containerStatuses"))


def crashed(pod: Object) -> bool:
    """Return whether a pod's containers wait to be restarted."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    return any((status["state"].get("waiting") or {}).get("reason") == "CrashLoopBackOff" for status in statuses)


def restarts(pod: Object) -> int:
    """Return how often a pod's containers were restarted."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    return max((int(status.get("restartCount", 0)) for status in statuses), default=0)


def owner_kind(pod: Object) -> str | None:
    """Return the kind of a pod's controller, or None for a bare pod."""
    for owner in pod["metadata"].get("ownerReferences") or []:
        if owner.get("controller"):
            return str(owner["kind"])
    return None


def finite(pod: Object) -> bool:
    """Return whether a pod's work ends by itself: a Job's, or a bare one that is not always restarted."""
    return owner_kind(pod) in {"Job", None} and pod["spec"].get("restartPolicy") != "Always"


def command(pod: Object) -> str:
    """Return what the first container runs, as one line."""
    container = pod["spec"]["containers"][0]
    return " ".join([*(container.get("command") or []), *(container.get("args") or [])])


def account(pod: Object) -> str:
    """Return the service account of a pod."""
    return str(pod["spec"].get("serviceAccountName", "default"))


def limits(pod: Object) -> set[str]:
    """Return the resources that a pod's containers have limits of."""
    return {
        name
        for container in pod["spec"]["containers"]
        for name in (container.get("resources") or {}).get("limits") or {}
    }


def variable(pod: Object, name: str) -> str | None:
    """Return the value of a variable of the first container."""
    for entry in pod["spec"]["containers"][0].get("env") or []:
        if entry["name"] == name:
            return str(entry.get("value", ""))
    return None


def memlock_unlimited(node: Object) -> bool:
    """Return whether containers on a node may lock memory without limit."""
    return annotations(node).get(names.MEMLOCK) == names.UNLIMITED
