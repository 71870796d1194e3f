"""What becomes of a job when a rank, a pod or a node is lost: the choices, and the fields of Kubernetes that carry it.

Facts of Kubernetes 1.34 (pkg/controller/job, tainteviction, pkg/apis/batch/validation), JobSet 0.12
(pkg/controllers/failure_policy.go) and Kubeflow Trainer 2.2.
"""

from typing import Any, Literal

from pydantic import Field

from components.base.model import Model

Restart = Literal["ranks", "pods", "all"]

_DISRUPTED = "DisruptionTarget"
"""Condition of a pod that is deleted by a taint, a drain, preemption or eviction."""
_KUEUE_REPLACED = "TerminatedByKueue"
"""Condition of a pod that Kueue ends because its node was replaced before it ran (kueue, pkg/controller/tas)."""
_TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


class ResilienceChoices(Model):
    """What a program, and a workload in its place, chooses for the loss of a rank, a pod or a node."""

    restart: Restart | None = Field(
        default=None,
        description="what a failure restarts. `ranks`: all processes, in the pods that are there, by torchrun or a new "
        "launcher of mpirun. `pods`: the pod that failed, alone. `all`: all pods, by JobSet, for a TrainJob. None: "
        "`all` for a TrainJob, `ranks` for other jobs of several pods, `pods` for the rest",
    )
    limit: int | None = Field(
        default=None,
        ge=0,
        le=100,
        description="how often; the job has failed for good after that. It resumes from its checkpoint if the program "
        "does so. None: 3 for a program with a checkpoint, otherwise 0",
    )
    count_disruptions: bool | None = Field(
        default=None,
        description="whether pods that were drained, evicted or preempted, or whose node was lost, count towards the "
        "limit. false with `pods`: a pod is replaced when it has ended, which on a dead node is when the node is back, "
        "removed or fenced; true: as soon as it is deleted. None: false for `all`, otherwise true, and `ranks` has no "
        "other",
    )
    lost_after: int | None = Field(
        default=None,
        ge=0,
        le=3600,
        description="seconds that a node may be not ready or unreachable before pods there are deleted; the cluster "
        "notices a silent node after 50 s. None: 30 for jobs of several pods, the cluster's own 300 for others",
    )
    spare_nodes: int | None = Field(
        default=None,
        ge=0,
        le=100,
        description="nodes that the job's pool, or the domain that it requires, must have beyond those that it runs "
        "on, so that Kueue finds a place for the pod of a lost one; needs `queues.topology`. None: 0",
    )


def overridden(base: ResilienceChoices, own: ResilienceChoices) -> ResilienceChoices:
    """Return the choices of a base, but for those that are made again."""
    return base.model_copy(update=own.model_dump(exclude_none=True))


class Resilience(Model):
    """What a job does about the loss of a rank, a pod or a node."""

    restart: Restart = Field(default="ranks", description="what a failure restarts")
    limit: int = Field(default=0, ge=0, description="how often; a retried verification hides what it found")
    count_disruptions: bool = Field(
        default=True, description="whether drained, evicted and preempted pods, and lost nodes, count towards the limit"
    )
    lost_after: int | None = Field(
        default=None, ge=0, description="seconds that a node may be not ready or unreachable; None: the cluster's 300"
    )

    @property
    def of_torchrun(self) -> int:
        """How often torchrun starts all processes again."""
        return self.limit if self.restart == "ranks" else 0

    @property
    def of_all(self) -> int:
        """How often JobSet starts all pods again."""
        return self.limit if self.restart == "all" else 0


NOTHING = Resilience()


def tolerations(resilience: Resilience) -> list[dict[str, Any]]:
    """Return the tolerations that let a pod stay on a lost node for a while; none: admission adds 300 s of each."""
    if resilience.lost_after is None:
        return []
    rest = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": resilience.lost_after}
    return [{"key": key, **rest} for key in _TAINTS]


def of_job(resilience: Resilience, *, policies: bool = True) -> dict[str, Any]:
    """Return the fields of a Job; `policies`: its release has podFailurePolicy.

    Only `pods` has pods replaced: ranks that lost another cannot go on, so otherwise the first lost pod ends the Job.
    Without a podFailurePolicy a pod on a dead node counts as lost once it is deleted: it is replaced, or the others end
    and free their GPUs. With one it counts when it has ended; but before that no JobSet could start all again either.
    """
    if resilience.restart == "pods":
        limit, rules = resilience.limit, [_rule("Ignore", condition) for condition in (_DISRUPTED, _KUEUE_REPLACED)]
    else:
        limit, rules = 0, [_rule("FailJob", _DISRUPTED)] if resilience.of_all else []
    if not policies or not resilience.limit or resilience.count_disruptions or not rules:
        return {"backoffLimit": limit}
    # The API admits no other podReplacementPolicy beside a podFailurePolicy.
    return {"backoffLimit": limit, "podFailurePolicy": {"rules": rules}, "podReplacementPolicy": "Failed"}


def of_job_set(resilience: Resilience) -> dict[str, Any]:
    """Return the failurePolicy of a JobSet whose Job has the fields of `of_job`; without one it fails with the Job.

    The Job's failure by its podFailurePolicy is a disruption, and costs no restart.
    """
    if not resilience.of_all:
        return {}
    disrupted = {
        "name": "disruption",
        "action": "RestartJobSetAndIgnoreMaxRestarts",
        "onJobFailureReasons": ["PodFailurePolicy"],
    }
    return {
        "failurePolicy": {
            "maxRestarts": resilience.limit,
            "restartStrategy": "Recreate",
            **({} if resilience.count_disruptions else {"rules": [disrupted]}),
        }
    }


def _rule(action: str, condition: str) -> dict[str, Any]:
    return {"action": action, "onPodConditions": [{"type": condition, "status": "True"}]}
