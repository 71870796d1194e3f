"""What Kueue's webhooks do: a new job is suspended until the manager admits it, and its queue then is immutable."""

from typing import Any

from apis.kinds import JOB, MPI_JOB_V2BETA1
from apis.names import QUEUE_NAME
from simulator.admission.patches import patch
from simulator.admission.review import Answer, Object


def held(job: Object) -> dict[str, Any]:
    """Return a job that is suspended; one that another job made is left as it is, as its maker is held."""
    spec = dict(job["spec"])
    if any(owner.get("controller") for owner in job["metadata"].get("ownerReferences") or []):
        return dict(job)
    if job["kind"] == MPI_JOB_V2BETA1.kind:
        spec["runPolicy"] = {**(spec.get("runPolicy") or {}), "suspend": True}
    elif job["kind"] == JOB.kind:
        spec["suspend"] = True
    return {**job, "spec": spec}


def suspended(job: Object) -> bool:
    """Return whether a job is held."""
    policy = job["spec"].get("runPolicy") or {} if job["kind"] == MPI_JOB_V2BETA1.kind else job["spec"]
    return policy.get("suspend") is True


def answer(request: Object) -> Answer:
    """Answer the request to create a job or to change one (pkg/controller/jobframework/validation.go)."""
    job = request["object"]
    if request["operation"] == "CREATE":
        return Answer(request["uid"], allowed=True, changes=tuple(patch(job, held(job))))
    queue = _queue(job)
    if suspended(job) or queue == _queue(request["oldObject"]):
        return Answer(request["uid"], allowed=True)
    why = f'metadata.labels[{QUEUE_NAME}]: Invalid value: "{queue}": field is immutable'
    return Answer(request["uid"], allowed=False, message=why)


def _queue(job: Object) -> str:
    return str((job["metadata"].get("labels") or {}).get(QUEUE_NAME, ""))
