"""Jobs of every kind and generation, their pods, and the images that the cluster builds for them (pure).

MPIJobs of v1alpha1 have a launcher's status, all later ones have conditions. The program itself ends an update by a job
that has failed, with its pods' last log lines; the rules are for where it does not, so the failure of a job as a whole
counts only when it lasts.
"""

from core.apis import kinds, names
from policies.manifests.values import entries, read
from toolkit.cli.shared import metadata
from toolkit.cli.up.waits import pods, workloads
from toolkit.cli.up.waits.rules import builds
from toolkit.cli.up.waits.verdict import DONE, Look, Object, Rule, Verdict, failing, met, reason_of, waiting

_LABELS = (
    names.JOB_NAME,
    f"batch.kubernetes.io/{names.JOB_NAME}",
    names.MPI_JOB_NAME,
    names.MPI_JOB_NAME_V2BETA1,
    "mpi-job-name",
    names.JOBSET_NAME,
)
"""Labels of pods that name their job: batch, MPIJob v1alpha2, v1 and v2beta1, of v1 before it was unified; TrainJob."""


def verdict(job: Object, look: Look) -> Verdict | None:
    """Return why a job's pods do not run, by failure or for now; None where they run.

    Containers that end are the job's own to count (backoffLimit).
    """
    mine = pods.alive(pod for pod in look(kinds.POD, metadata.namespace(job)) if _is_of(pod, job))
    bad = pods.trouble(mine, restarts=False)
    if bad is not None:
        return builds.of_image(bad, look) or bad
    if (refused := workloads.refused(_owners(job, look), metadata.namespace(job), look)) is not None:
        return refused
    text = pods.progress([pod for pod in mine if read(pod, "status", "phase") in ("Pending", "", None)], look)
    return waiting(text) if text else None


def unfinished(job: Object, look: Look, *, active: object) -> Verdict:
    """Return how far a Job or TrainJob is that has not ended; `active`: whether some of its pods run."""
    if met(job, "Suspended") is not None or read(job, "spec", "suspend") is True:
        return waiting("suspended: its queue has not admitted it yet")
    return verdict(job, look) or waiting("it runs" if active else "it has not started yet")


def _is_of(pod: Object, job: Object) -> bool:
    return metadata.owned_by(pod, metadata.uid(job)) or metadata.name(job) in (
        metadata.labels(pod).get(label) for label in _LABELS
    )


def _owners(job: Object, look: Look) -> list[str]:
    """Return the job and what makes pods for it: StatefulSets of workers, the Job of a launcher or of a JobSet."""
    parts = (part for kind in (kinds.STATEFUL_SET, kinds.JOB) for part in look(kind, metadata.namespace(job)))
    return [metadata.uid(job), *(metadata.uid(part) for part in parts if _makes_pods(part, job))]


def _makes_pods(part: Object, job: Object) -> bool:
    if metadata.owned_by(part, metadata.uid(job)):
        return True
    return job.get("kind") == kinds.TRAIN_JOB.kind and metadata.labels(part).get(names.JOBSET_NAME) == metadata.name(
        job
    )


def judge_mpi_job(obj: Object, look: Look) -> Verdict:
    """Return how far an MPIJob is."""
    launcher = str(read(obj, "status", "launcherStatus") or "")
    if met(obj, "Succeeded") is not None or launcher == "Succeeded":
        return DONE
    if (condition := met(obj, "Failed")) is not None:
        return failing(reason_of(condition), "Failed")
    if launcher == "Failed":
        return failing("its launcher has failed", "Failed")
    if (condition := met(obj, "Suspended")) is not None:
        return waiting(f"suspended; {reason_of(condition)}")
    if (pods_verdict := verdict(obj, look)) is not None:
        return pods_verdict
    return waiting("it runs" if met(obj, "Running") is not None or launcher == "Active" else "it has not started yet")


def judge_job(obj: Object, look: Look) -> Verdict:
    """Return how far a Job is."""
    if met(obj, "Complete") is not None:
        return DONE
    for kind in ("Failed", "FailureTarget"):
        if (condition := met(obj, kind)) is not None:
            return failing(reason_of(condition), "Failed")
    return unfinished(obj, look, active=read(obj, "status", "active"))


def judge_train_job(obj: Object, look: Look) -> Verdict:
    """Return how far a TrainJob is."""
    if met(obj, "Complete") is not None:
        return DONE
    if (condition := met(obj, "Failed")) is not None:
        return failing(reason_of(condition), "Failed")
    active = any(read(job, "active") for job in entries(obj, "status", "jobsStatus"))
    return unfinished(obj, look, active=active)


RULES = (
    Rule(kinds.MPI_JOB_V2BETA1.group, (kinds.MPI_JOB_V2BETA1.kind,), judge_mpi_job),
    Rule(kinds.JOB.group, (kinds.JOB.kind,), judge_job),
    Rule(kinds.TRAIN_JOB.group, (kinds.TRAIN_JOB.kind,), judge_train_job),
)
