"""What Kueue's webhook does to a new job: it is held, until the manager lets it go."""

from typing import Any

from apis.kinds import JOB, MPI_JOB_V2BETA1
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


def answer(request: Object) -> Answer:
    """Answer the request to create a job."""
    job = request["object"]
    return Answer(request["uid"], allowed=True, changes=tuple(patch(job, held(job))))
