"""What Kubernetes gets of a job's resilience."""

from typing import Any

import pytest

from components.jobs import batch_job, mpi_job, resilience, torch_job
from components.jobs.gpu_job import GpuJob
from components.jobs.resilience import Resilience, ResilienceChoices, of_job, of_job_set, overridden, tolerations
from tests.components import kit
from tests.support.declared import declared, faults, only

IGNORED = [
    {"action": "Ignore", "onPodConditions": [{"type": kind, "status": "True"}]}
    for kind in ("DisruptionTarget", "TerminatedByKueue")
]
ENDED = [{"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]


def test_a_lost_node_is_borne_for_a_while() -> None:
    """Both taints of a lost node have the same time; without one the cluster's own holds."""
    assert [
        (entry["key"], entry["effect"], entry["tolerationSeconds"]) for entry in tolerations(_of(lost_after=0))
    ] == [
        ("node.kubernetes.io/not-ready", "NoExecute", 0),
        ("node.kubernetes.io/unreachable", "NoExecute", 0),
    ]
    assert tolerations(Resilience()) == []


def test_all_pods_of_a_job_bear_it() -> None:
    """Launcher and workers of an MPIJob have it, beside the tolerations of their nodes' taints."""
    args = kit.mpi_job_v2beta1(resilience={"lost_after": 30}, tolerations=({"key": "team", "effect": "NoSchedule"},))
    replicas = mpi_job.spec(args)["mpiReplicaSpecs"]
    launcher, worker = (replicas[role]["template"]["spec"]["tolerations"] for role in ("Launcher", "Worker"))
    assert [entry["key"] for entry in launcher] == ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
    assert [entry["key"] for entry in worker] == ["team", *(entry["key"] for entry in launcher)]


@pytest.mark.parametrize(
    ("own", "limit", "rules"),
    [
        ({"restart": "pods", "limit": 3, "count_disruptions": False}, 3, IGNORED),
        ({"restart": "pods", "limit": 3}, 3, None),
        ({"restart": "pods", "count_disruptions": False}, 0, None),
        ({"restart": "ranks", "limit": 3}, 0, None),
        ({"restart": "all", "limit": 3, "count_disruptions": False}, 0, ENDED),
        ({"restart": "all", "limit": 3}, 0, None),
    ],
)
def test_a_job_replaces_pods_or_ends_with_the_first(own: dict[str, Any], limit: int, rules: Any) -> None:
    """Only `pods` replaces; where disruptions are free, a podFailurePolicy has the replacement that it needs."""
    found = of_job(_of(**own))
    assert found["backoffLimit"] == limit
    assert found.get("podFailurePolicy") == (rules and {"rules": rules})
    assert found.get("podReplacementPolicy") == (rules and "Failed")
    assert of_job(_of(**own), policies=False) == {"backoffLimit": limit}


def test_only_all_is_restarted_by_job_set() -> None:
    """Its first rule takes the Job's end by a disruption, which costs no restart; a counted one has no rule."""
    free = of_job_set(_of(restart="all", limit=2, count_disruptions=False))["failurePolicy"]
    assert (free["maxRestarts"], free["restartStrategy"]) == (2, "Recreate")
    (rule,) = free["rules"]
    assert (rule["action"], rule["onJobFailureReasons"]) == (
        "RestartJobSetAndIgnoreMaxRestarts",
        ["PodFailurePolicy"],
    )
    assert "rules" not in of_job_set(_of(restart="all", limit=2))["failurePolicy"]
    assert of_job_set(_of(restart="all")) == of_job_set(_of(restart="ranks", limit=2)) == {}


def test_our_own_rules_have_nothing_against_it() -> None:
    """The policies of a Job of one pod are none that a rule of ours refuses."""
    own = {"restart": "pods", "limit": 3, "count_disruptions": False, "lost_after": 30}
    found = declared(lambda: GpuJob("job", kit.gpu_job(resilience=own), lambda *_: ""))
    assert faults(found) == []
    assert only(found, "Job")["spec"]["podFailurePolicy"] == {"rules": IGNORED}


def test_releases_without_the_fields_get_none() -> None:
    """Kubernetes 1.17 has a limit alone."""
    own = {"restart": "pods", "limit": 3, "count_disruptions": False}
    found = batch_job.spec(kit.gpu_job(resilience=own, failure_policies=False), {})
    assert {"podFailurePolicy", "podReplacementPolicy"} & found.keys() == set()
    assert found["backoffLimit"] == 3


def test_a_torch_job_of_one_pod_may_get_another() -> None:
    """Its pod is replaced, and torchrun restarts nothing itself."""
    args = kit.torch_job(layout={"pods": 1, "gpus": 8}, resilience={"restart": "pods", "limit": 2})
    assert torch_job.spec(args)["backoffLimit"] == 2
    assert args.restarting == {}


def test_choices_are_overridden_field_by_field() -> None:
    """A workload's own choices, 0 and false among them, take the place of its program's."""
    program = ResilienceChoices(restart="all", limit=3, count_disruptions=True, spare_nodes=1)
    found = overridden(program, ResilienceChoices(limit=0, count_disruptions=False))
    assert found == ResilienceChoices(restart="all", limit=0, count_disruptions=False, spare_nodes=1)
    assert overridden(program, ResilienceChoices()) == program


def _of(**own: Any) -> resilience.Resilience:
    return Resilience.model_validate(own)
