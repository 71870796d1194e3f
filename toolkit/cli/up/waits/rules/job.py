"""Batch Jobs. As for MPIJobs, the program itself ends an update by one that has failed."""

from core.apis import kinds
from policies.manifests.values import read
from toolkit.cli.up.waits import jobs
from toolkit.cli.up.waits.verdict import DONE, Look, Object, Rule, Verdict, failing, met, reason_of


def judge(obj: Object, look: Look) -> Verdict:
    """Return how far a Job is."""
    if met(obj, "Complete") is not None:
        return DONE
    for kind in ("Failed", "FailureTarget"):
        if (condition := met(obj, kind)) is not None:
            return failing(reason_of(condition), "Failed")
    return jobs.unfinished(obj, look, active=read(obj, "status", "active"))


RULE = Rule(kinds.JOB.group, (kinds.JOB.kind,), judge)
