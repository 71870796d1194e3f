"""TrainJobs of Kubeflow Trainer. As for MPIJobs, the program itself ends an update by one that has failed."""

from core.apis import kinds
from policies.manifests.values import entries, read
from toolkit.cli.up.waits import jobs
from toolkit.cli.up.waits.verdict import DONE, Look, Object, Rule, Verdict, failing, met, reason_of


def judge(obj: Object, look: Look) -> Verdict:
    """Return how far a TrainJob is."""
    if met(obj, "Complete") is not None:
        return DONE
    if (condition := met(obj, "Failed")) is not None:
        return failing(reason_of(condition), "Failed")
    active = any(read(job, "active") for job in entries(obj, "status", "jobsStatus"))
    return jobs.unfinished(obj, look, active=active)


RULE = Rule(kinds.TRAIN_JOB.group, (kinds.TRAIN_JOB.kind,), judge)
