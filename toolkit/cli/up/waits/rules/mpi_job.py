"""MPIJobs of every generation: v1alpha1 has a launcher's status, all later ones have conditions.

The program itself ends an update by a job that has failed, with its pods' last log lines; this one is for where it
does not, so the failure of the job as a whole counts only when it lasts.
"""

from core.apis.kinds import MPI_JOB_V2BETA1
from policies.manifests.values import read
from toolkit.cli.up.waits import jobs
from toolkit.cli.up.waits.verdict import DONE, Look, Object, Rule, Verdict, failing, met, reason_of, waiting


def judge(obj: Object, look: Look) -> Verdict:
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
    verdict = jobs.verdict(obj, look)
    if verdict is not None:
        return verdict
    return waiting("it runs" if met(obj, "Running") is not None or launcher == "Active" else "it has not started yet")


RULE = Rule(MPI_JOB_V2BETA1.group, (MPI_JOB_V2BETA1.kind,), judge)
